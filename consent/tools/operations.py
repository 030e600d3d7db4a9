"""What each tool does: the same actions and queries as the REST address of its purpose, with the same checks."""

from collections.abc import Mapping
from typing import Annotated, Any

import orjson
from pydantic import Field

from common.admission.schemas import Identifier, Strict
from consent import status
from consent.api.headers import client_hint
from consent.api.polling import pace, peek
from consent.decisions import actions as decision_actions
from consent.discovery import actions as discovery_actions
from consent.discovery import queries as discovery_queries
from consent.exports import reads
from consent.notices import long_polling
from consent.requests import creation
from consent.schemas import RequestConsentBody, ScopesQuery
from consent.shapes import ConsentStatus, MadeRequest
from consent.states import RequestStatus
from consent.tools.context import CallContext

REQUEST_CONSENT, CHECK_CONSENT_STATUS = "request_consent", "check_consent_status"  # tools that others name too
RequestId = Annotated[Identifier, Field(description="As request_consent answered.")]


class CatalogArguments(ScopesQuery):
    """Arguments of list_scope_catalog."""

    compact: Annotated[bool, Field(description="Only what asking needs.")] = False


class UserArguments(CatalogArguments):
    """Arguments of discover_user_scopes."""

    user_id: Annotated[str, Field(min_length=1, description="As in request_consent.")]


class RequestArguments(Strict):
    """Arguments of a tool about one request."""

    request_id: RequestId


class StatusArguments(RequestArguments):
    """Arguments of check_consent_status."""

    wait_seconds: Annotated[int, Field(ge=0, le=30, description="Hold the answer until the status changes.")] = 0


def discover_user_scopes(call: CallContext, arguments: UserArguments) -> Mapping[str, Any]:
    name = arguments.user_id  # what cannot be one is unknown, counted like every other
    scopes, unknown_count = discovery_actions.discover_scopes(
        app=call.app, name=name, hint=client_hint(call.request), wanted=_wanted(arguments)
    )
    call.view.note(unknown_count)
    if not arguments.compact:
        return scopes
    entries = _compact(orjson.dumps(scopes["scope_entries"]))
    kept = {name: value for name, value in scopes.items() if name in ("user_id", "next_cursor")}
    return {"can_approve": scopes["runtime"]["can_approve"], "scope_entries": entries, **kept}


def list_scope_catalog(call: CallContext, arguments: CatalogArguments) -> bytes | Mapping[str, Any]:
    catalog = discovery_queries.scope_catalog(_wanted(arguments))
    if not arguments.compact:
        return catalog
    whole = orjson.loads(catalog)
    return {**whole, "scope_entries": _compact(orjson.dumps(whole["scope_entries"]))}


def _wanted(arguments: CatalogArguments) -> ScopesQuery:
    return ScopesQuery(domain=arguments.domain, query=arguments.query, limit=arguments.limit, cursor=arguments.cursor)


def _compact(entries: bytes) -> list[dict[str, Any]]:
    """What asking needs, each fact once."""
    return [
        {
            "scope": entry["scope"],
            "label": entry["label"],
            "sensitivity_tier": entry["sensitivity_tier"],
            "attributes": entry["attributes"],
        }
        for entry in orjson.loads(entries)
    ]


def request_consent(call: CallContext, arguments: RequestConsentBody) -> MadeRequest:
    hint = client_hint(call.request)
    made = creation.request_consent(app=call.app, body=arguments, idempotency_key=None, hint=hint)
    call.view.note(*made.limits)
    return made.body


def check_consent_status(call: CallContext, arguments: StatusArguments) -> ConsentStatus:
    """As the REST does it: polls are paced, and a call that waits holds no database connection."""
    count = peek if arguments.wait_seconds else pace
    call.view.note(count(call.app.app_pk, arguments.request_id))
    found = status.for_app(app_pk=call.app.app_pk, request_id=arguments.request_id)
    if not arguments.wait_seconds or found["status"] != RequestStatus.PENDING:
        return found
    if long_polling.hub.is_full(call.app.app_pk, is_live=call.app.is_live):
        call.view.note(pace(call.app.app_pk, arguments.request_id))
        return found
    return long_polling.wait_for_change(app=call.app, request_id=arguments.request_id, seconds=arguments.wait_seconds)


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
