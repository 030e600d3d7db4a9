"""The bodies and queries of analyses, strict: wrong types and unknown members are refused."""

from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from common.admission.shapes import Strict
from common.text import is_plain


def _address(text: str) -> str:
    try:
        validate_email(text)
    except ValidationError:
        raise PydanticCustomError("email", "must be an e-mail address") from None
    return text


def _name(text: str) -> str:
    named = text.strip()
    if not is_plain(text):
        raise PydanticCustomError("plain_text", "must be one line of plain text without invisible characters")
    if not 2 <= len(named) <= 200:
        raise PydanticCustomError("length", "must have 2 to 200 characters")
    return named


def _yes(agreed: bool) -> bool:
    if not agreed:
        raise PydanticCustomError("agreement", "must be true: nothing is asked about anybody who did not agree")
    return agreed


class AnalysisBody(Strict):
    """`POST /api/a2a/analyses`; `agreed` is the consent to profile, enrichment and brand_affinity for this run."""

    email: Annotated[str, Field(max_length=254), AfterValidator(_address)]
    fullName: Annotated[str, AfterValidator(_name)]  # noqa: N815  # the contract's spelling
    countryCode: Annotated[str, Field(pattern=r"^\+[0-9]{1,4}\Z")]  # noqa: N815
    phoneNumber: Annotated[str, Field(pattern=r"^[0-9]{10,15}\Z")]  # noqa: N815
    agreed: Annotated[bool, AfterValidator(_yes)]

    def submitted(self) -> dict[str, str]:
        """What the run works on."""
        return self.model_dump(exclude={"agreed"})


class ListQuery(BaseModel):
    """`GET /api/a2a/analyses`; a query's numbers come as text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cursor: Annotated[str, Field(pattern=r"^ana_[a-z2-7]{1,60}$")] | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50

    @field_validator("limit", mode="before")
    @classmethod
    def _plain_number(cls, value: Any) -> Any:
        if isinstance(value, str) and not (value.isascii() and value.isdigit()):
            raise PydanticCustomError("int_parsing", "must be a whole number from 1 to 100")
        return value
