"""The bodies of the agents' addresses and of consents."""

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from agents_proxy.states import Purpose

_TASK = r"task-[A-Za-z0-9_-]{1,64}"
TASK_ID = re.compile(rf"{_TASK}\Z")
TaskId = Annotated[str, Field(pattern=rf"^{_TASK}\z")]

# "" is what an absent one reads as; null is neither absent nor one of these
_OptionalSession = Annotated[str, Field(pattern=r"^session-[0-9]{1,20}\z")]


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Text = Annotated[str, Field(min_length=1, max_length=20_000), AfterValidator(_not_blank)]


def _true(value: bool) -> bool:
    if not value:
        raise ValueError("must be true")
    return value


Agreed = Annotated[bool, AfterValidator(_true)]  # not Literal[True], which takes 1 for it


class Strict(BaseModel):
    """No coercion and no unknown members."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class PromptBody(Strict):
    """What an agent is asked (contract 4.1). `sessionId` and `id` only correlate; they never authorise."""

    text: Text
    sessionId: _OptionalSession = ""  # noqa: N815  # the wire's name
    id: TaskId = ""


class TemplateCall(Strict):
    """An approved template with what fills it."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}\z")]
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*\z", max_length=16)]
    parameters: dict[
        Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}\z")], Annotated[str, Field(max_length=500)]
    ] = Field(default_factory=dict, max_length=20)


class MessageBody(Strict):
    """A message to one verified number: words of its own or an approved template."""

    to: Annotated[str, Field(pattern=r"^\+[1-9][0-9]{6,14}\z")]
    text: Text | None = None
    template: TemplateCall | None = None
    sessionId: _OptionalSession = ""  # noqa: N815  # the wire's name
    id: TaskId = ""

    @model_validator(mode="after")
    def _one_of_both(self) -> "MessageBody":
        if (self.text is None) == (self.template is None):
            raise ValueError("give either text or template")
        return self


def _once_each(purposes: list[Purpose]) -> list[Purpose]:
    if len(set(purposes)) != len(purposes):
        raise ValueError("name each purpose once")
    return purposes


class ConsentBody(Strict):
    """A signed-in person's agreement to calls of their own."""

    purposes: Annotated[
        list[Annotated[Purpose, Field(strict=False)]],
        Field(min_length=1, max_length=len(Purpose)),
        AfterValidator(_once_each),
    ]
    agreed: Agreed
