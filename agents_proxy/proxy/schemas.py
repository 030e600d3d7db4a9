"""The bodies of the agents' addresses."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from agents_proxy.errors import AgentError
from common.admission.schemas import Strict

TASK_PATTERN = r"task-[A-Za-z0-9_-]{1,64}"
TASK_ID = re.compile(rf"{TASK_PATTERN}\Z")
TaskId = Annotated[str, Field(pattern=rf"^{TASK_PATTERN}\z", examples=["task-1"])]

# "" is what an absent one reads as
OptionalSession = Annotated[str, Field(pattern=r"^session-[0-9]{1,20}\z", examples=["session-1"])]


def not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Text = Annotated[str, Field(min_length=1, max_length=20_000), AfterValidator(not_blank)]


class AgentBody(Strict):
    """A body whose refusals name a pattern as the agents' addresses have always written it (`\\z`)."""

    model_config = ConfigDict(regex_engine="rust-regex")


class PromptBody(AgentBody):
    """What an agent is asked (contract 4.1). `sessionId` and `id` only correlate; they never authorise."""

    text: Annotated[Text, Field(examples=["Which restaurants would I like?"])]
    sessionId: OptionalSession = ""  # the wire's name
    id: TaskId = ""


class AgentAnswer(BaseModel):
    """A JSON-RPC object: the agent's `result`, without what it says beside it, or its `error`."""

    jsonrpc: Literal["2.0"]
    id: Annotated[str | None, Field(examples=["task-1"])]
    result: Annotated[Any, Field(examples=[{"text": "Italian ones."}])] = None
    error: AgentError | None = None
