"""What each tool does: the same actions and queries as the REST address of its purpose, with the same checks."""

from typing import Annotated

from pydantic import Field

from common.admission.shapes import Identifier, Nothing, Strict
from consent import status
from consent.api.headers import client_hint
from consent.api.polling import look, pace
from consent.decisions import actions as decision_actions
from consent.discovery import actions as discovery_actions
from consent.discovery import queries as discovery_queries
from consent.exports import reads
from consent.notices import waiting
from consent.requests import creation
from consent.schemas import WHO, RequestConsentBody
from consent.shapes import AskedConsent, ConsentStatus, UserScopes
from consent.states import RequestStatus
from consent.tools.context import CallContext

REQUEST_CONSENT, CHECK_CONSENT_STATUS = "request_consent", "check_consent_status"  # tools that others name too
RequestId = Annotated[Identifier, Field(description="The request, as request_consent answered it.")]


class UserArguments(Strict):
    """Arguments of discover_user_scopes."""

    user_id: Annotated[str, Field(min_length=1, description=WHO)]


class RequestArguments(Strict):
    """Arguments of a tool about one request."""

    request_id: RequestId


class StatusArguments(RequestArguments):
    """Arguments of check_consent_status."""

    wait_seconds: Annotated[
        int, Field(ge=0, le=30, description="Hold the answer until the status changes, at most so long.")
    ] = 0


def discover_user_scopes(call: CallContext, arguments: UserArguments) -> UserScopes:
    name = arguments.user_id  # what cannot be one is unknown, counted like every other
    scopes, guesses = discovery_actions.discover_scopes(app=call.app, name=name, hint=client_hint(call.request))
    call.view.note(guesses)
    return scopes


def list_scope_catalog(call: CallContext, arguments: Nothing) -> bytes:
    return discovery_queries.scope_catalog()


def request_consent(call: CallContext, arguments: RequestConsentBody) -> AskedConsent:
    hint = client_hint(call.request)
    asked = creation.request_consent(app=call.app, body=arguments, idempotency_key=None, hint=hint)
    call.view.note(*asked.limits)
    return asked.answer


def check_consent_status(call: CallContext, arguments: StatusArguments) -> ConsentStatus:
    """As the REST does it: polls are paced, and a call that waits holds no database connection."""
    count = look if arguments.wait_seconds else pace
    call.view.note(count(call.app.app_pk, arguments.request_id))
    found = status.for_app(app_pk=call.app.app_pk, request_id=arguments.request_id)
    if not arguments.wait_seconds or found["status"] != RequestStatus.PENDING:
        return found
    if waiting.hub.is_full(call.app.app_pk):
        call.view.note(pace(call.app.app_pk, arguments.request_id))
        return found
    return waiting.wait_for_change(
        app_pk=call.app.app_pk,
        token_pk=call.app.token_pk,
        request_id=arguments.request_id,
        seconds=arguments.wait_seconds,
    )


def get_encrypted_export(call: CallContext, arguments: RequestArguments) -> bytes:
    export = reads.read_export(
        app=call.app,
        request_id=arguments.request_id,
        accept_jose=False,
        if_none_match=None,
        idempotency_key=None,
        address=call.address,
    )
    return export.body


def end_consent(call: CallContext, arguments: RequestArguments) -> ConsentStatus:
    decision_actions.end_consent(app_pk=call.app.app_pk, request_id=arguments.request_id)
    return status.for_app(app_pk=call.app.app_pk, request_id=arguments.request_id)
