"""The bodies of phone numbers, messages' reports and the aggregator, strict as everywhere."""

from typing import Annotated

from pydantic import Field

from agents_proxy.schemas import Strict

Number = Annotated[str, Field(pattern=r"^\+[1-9][0-9]{6,14}\z")]


class NumberBody(Strict):
    """The number that a code is to be sent to."""

    to: Number


class CodeBody(Strict):
    """The code that came."""

    to: Number
    code: Annotated[str, Field(pattern=r"^[0-9]{6}\z")]


class Nothing(Strict):
    """`{}`"""
