"""The bodies of phone numbers, messages' reports and the aggregator, strict as everywhere."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from agents_proxy.schemas import Strict, TaskId

Number = Annotated[str, Field(pattern=r"^\+[1-9][0-9]{6,14}\z")]


class NumberBody(Strict):
    """The number that a code is to be sent to."""

    to: Number


class CodeBody(Strict):
    """The code that came."""

    to: Number
    code: Annotated[str, Field(pattern=r"^[0-9]{6}\z")]


class ReportBody(Strict):
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


class Nothing(Strict):
    """`{}`"""
