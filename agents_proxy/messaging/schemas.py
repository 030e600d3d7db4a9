"""The bodies of messages, phone numbers and reports of delivery, strict as everywhere."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from agents_proxy.proxy.schemas import AgentBody, OptionalSession, TaskId, Text
from common.shapes import Shape, Time

Number = Annotated[str, Field(pattern=r"^\+[1-9][0-9]{6,14}\z", examples=["+4915123456789"])]


class TemplateCall(AgentBody):
    """An approved template with what fills it."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}\z")]
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*\z", max_length=16)]
    parameters: dict[
        Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}\z")], Annotated[str, Field(max_length=500)]
    ] = Field(default_factory=dict, max_length=20)


class MessageBody(AgentBody):
    """A message to one verified number: words of its own or an approved template."""

    to: Number
    text: Annotated[Text | None, Field(examples=["Your table is ready."])] = None
    template: TemplateCall | None = None
    sessionId: OptionalSession = ""  # the wire's name
    id: TaskId = ""

    @model_validator(mode="after")
    def _one_of_both(self) -> "MessageBody":
        if (self.text is None) == (self.template is None):
            raise ValueError("give either text or template")
        return self


class NumberBody(AgentBody):
    """The number that a code is to be sent to."""

    to: Number


class CodeBody(AgentBody):
    """The code that came."""

    to: Number
    code: Annotated[str, Field(pattern=r"^[0-9]{6}\z", examples=["123456"])]


class InboundBody(AgentBody):
    """What somebody wrote back to a message."""

    number: Number = Field(alias="from")
    text: Annotated[str, Field(max_length=4000)]


class ReportBody(AgentBody):
    """What became of a message: named by the agent's own `messageId`, or by the task's `id` and where it went, `to`."""

    status: Annotated[str, Field(max_length=32)]
    messageId: Annotated[str, Field(pattern=r"^[!-~]{1,128}\z")] | None = None  # agents spell it so
    id: TaskId | None = None
    to: Number | None = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.messageId is None and (self.id is None or self.to is None):
            raise ValueError("name the message by messageId, or by id and to")
        return self


class PhoneNumber(Shape):
    """A verified number of one's own."""

    numberId: int
    number: Annotated[str, Field(examples=["+4915123456789"])]
    verifiedAt: Time


class PhoneNumbers(Shape):
    numbers: list[PhoneNumber]


class CodeSent(Shape):
    status: Literal["code_sent"]
    expiresIn: Annotated[int, Field(description="Seconds that the code holds.", examples=[600])]


class NumberVerified(Shape):
    status: Literal["verified"]


class SentMessage(Shape):
    """A message that was sent; neither the number nor the words were kept."""

    messageId: Annotated[str, Field(examples=["msg_2zq5x7k3m4"])]
    id: Annotated[str, Field(examples=["task-1"])]
    template: str | None
    status: Annotated[str, Field(examples=["delivered"])]
    errorCode: str | None
    createdAt: Time
    updatedAt: Time


class SentMessages(Shape):
    """Newest first."""

    messages: list[SentMessage]
