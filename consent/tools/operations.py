"""What each tool does: the same actions and reads as the REST, with the same checks around them."""

from typing import Annotated, Any

from pydantic import Field

from consent import actions, queries, waiting
from consent.api.base import client_hint
from consent.api.pacing import look, pace
from consent.schemas import Identifier, RequestConsentBody, Strict, is_identifier
from consent.states import RequestStatus
from consent.tools.calling import Call

STATUS = "check_consent_status"
RequestId = Annotated[Identifier, Field(description="The request, as request_consent answered it.")]


class Person(Strict):
    """Arguments of discover_user_scopes."""

    user_id: Annotated[str, Field(min_length=1, description="The person's sharing ID; they find it in the app.")]


class OneRequest(Strict):
    """Arguments of a tool about one request."""

    request_id: RequestId


class Status(OneRequest):
    """Arguments of check_consent_status."""

    wait_seconds: Annotated[
        int, Field(ge=0, le=30, description="Hold the answer until the status changes, at most so long.")
    ] = 0


class Nothing(Strict):
    """A tool without arguments."""


def discover_user_scopes(call: Call, given: Person) -> bytes:
    call.meter.hint = client_hint(call.request)
    # what cannot be a sharing ID is an unknown one, counted like every other
    known_form = given.user_id if is_identifier(given.user_id) else ""
    return queries.user_scopes(app=call.app, user_id=known_form, meter=call.meter)


def list_scope_catalog(call: Call, given: Nothing) -> bytes:
    return queries.scope_catalog()


def request_consent(call: Call, given: RequestConsentBody) -> dict[str, Any]:
    call.meter.hint = client_hint(call.request)
    answer, _ = actions.request_consent(app=call.app, body=given, idempotency_key=None, meter=call.meter)
    return answer


def check_consent_status(call: Call, given: Status) -> dict[str, Any]:
    """As the REST does it: polls are paced, and who is held holds no database connection."""
    count = look if given.wait_seconds else pace
    count(call.app.app_pk, given.request_id, call.meter)
    status = queries.status_body(app_pk=call.app.app_pk, request_id=given.request_id, beside=call.app.beside)
    if not given.wait_seconds or status["status"] != RequestStatus.PENDING:
        return status
    if waiting.hub.is_full(call.app.app_pk):
        pace(call.app.app_pk, given.request_id, call.meter)
        return status
    return waiting.wait_for_change(app_pk=call.app.app_pk, request_id=given.request_id, seconds=given.wait_seconds)


def get_encrypted_export(call: Call, given: OneRequest) -> bytes:
    export = actions.read_export(
        app=call.app,
        request_id=given.request_id,
        accept_jose=False,
        if_none_match=None,
        idempotency_key=None,
        address=call.address,
    )
    return export.body


def end_consent(call: Call, given: OneRequest) -> dict[str, Any]:
    actions.end_consent(app_pk=call.app.app_pk, request_id=given.request_id)
    return queries.status_body(app_pk=call.app.app_pk, request_id=given.request_id)
