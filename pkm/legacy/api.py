"""A person's addresses for what the old system left of theirs: read it, keep how far it is moved, let a row go."""

from typing import Annotated, Literal

from django.http import HttpResponse
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from rest_framework.request import Request

from accounts.owner_api import OwnerView
from common.admission.schemas import Strict
from common.json_bodies import json_answer
from pkm.legacy import actions as legacy_actions
from pkm.legacy import queries as legacy_queries

_Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}\Z")]
_Count = Annotated[int, Field(ge=0, le=1_000_000)]


class At(Strict):
    """Which domain the browser is at, and which of its segments it has written."""

    domain: _Name
    segments: Annotated[dict[_Name, Annotated[int, Field(ge=1, le=2**31 - 1)]], Field(max_length=100)]


class Counts(Strict):
    """Attributes that were written, and that have no place."""

    written: _Count
    aside: _Count


class ProgressBody(Strict):
    """`PUT /vault/legacy/progress`. `last_error` is a code, never a text that could hold a value."""

    status: Literal["waiting_for_unlock", "running", "failed"]
    at: At | None
    counts: Counts
    last_error: Annotated[str, Field(max_length=64, pattern=r"^[a-z_]*\Z")]

    @model_validator(mode="after")
    def _failed_with_error(self) -> "ProgressBody":
        if (self.status == "failed") == (not self.last_error):
            raise PydanticCustomError("last_error", "last_error goes with failed, and only with it")
        return self


class FinishBody(Strict):
    """`POST /vault/legacy/{domain}/finish`."""

    updated_at: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")]
    segments: Annotated[dict[_Name, Annotated[int, Field(ge=1, le=2**31 - 1)]], Field(max_length=100)]
    discard: bool
    kept: _Count  # attributes that the person had already, with another value


class OldData(OwnerView):
    def get(self, request: Request) -> HttpResponse:
        return json_answer(legacy_queries.old_data(self.person))


class Progress(OwnerView):
    def put(self, request: Request) -> HttpResponse:
        body = self.body(ProgressBody)
        return json_answer(legacy_actions.save_progress(by=self.person, **body.model_dump()))


class Finish(OwnerView):
    def post(self, request: Request, domain: str) -> HttpResponse:
        body = self.body(FinishBody)
        return json_answer(legacy_actions.finish_domain(by=self.person, domain=domain, **body.model_dump()))
