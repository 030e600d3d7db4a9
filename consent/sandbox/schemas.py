"""The bodies of the sandbox's own addresses."""

from typing import Annotated

from pydantic import AfterValidator, Field

from common.admission.shapes import Strict
from consent.schemas import plain_text

_LONGEST = 10 * 365 * 86400  # seconds; further than anything lasts


class SandboxPersonBody(Strict):
    """`POST /sandbox/people`."""

    label: Annotated[
        str,
        Field(max_length=80, description="Your own name for this person."),
        AfterValidator(lambda text: plain_text(text) if text else text),
    ] = ""


class ClockBody(Strict):
    """`POST /sandbox/people/{user_id}/clock`."""

    seconds: Annotated[int, Field(ge=1, le=_LONGEST, description="How far the clock is moved ahead.")]
