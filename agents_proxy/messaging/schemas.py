"""The bodies of messages, phone numbers and reports of delivery, strict as everywhere."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from agents_proxy.proxy.schemas import AgentBody, OptionalSession, TaskId, Text


class TemplateCall(AgentBody):
    """An approved template with what fills it."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}\z")]
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*\z", max_length=16)]
    parameters: dict[
        Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}\z")], Annotated[str, Field(max_length=500)]
    ] = Field(default_factory=dict, max_length=20)


class MessageBody(AgentBody):
    """A message to one verified number: words of its own or an approved template."""

    to: Annotated[str, Field(pattern=r"^\+[1-9][0-9]{6,14}\z")]
    text: Text | None = None
    template: TemplateCall | None = None
    sessionId: OptionalSession = ""  # noqa: N815  # the wire's name
    id: TaskId = ""

    @model_validator(mode="after")
    def _one_of_both(self) -> "MessageBody":
        if (self.text is None) == (self.template is None):
            raise ValueError("give either text or template")
        return self


Number = Annotated[str, Field(pattern=r"^\+[1-9][0-9]{6,14}\z")]


class NumberBody(AgentBody):
    """The number that a code is to be sent to."""

    to: Number


class CodeBody(AgentBody):
    """The code that came."""

    to: Number
    code: Annotated[str, Field(pattern=r"^[0-9]{6}\z")]


class ReportBody(AgentBody):
    """What became of a message: named by the agent's own `messageId`, or by the task's `id` and where it went, `to`."""

    status: Annotated[str, Field(max_length=32)]
    messageId: Annotated[str, Field(pattern=r"^[!-~]{1,128}\z")] | None = None  # noqa: N815  # agents spell it so
    id: TaskId | None = None
    to: Number | None = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.messageId is None and (self.id is None or self.to is None):
            raise ValueError("name the message by messageId, or by id and to")
        return self
