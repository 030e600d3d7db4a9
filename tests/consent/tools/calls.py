"""Calls of the tools that have something to answer, and the same calls by REST."""

from typing import Any

from developers.models import App
from tests.callers import Developer
from tests.consent.api.addresses import request_body
from tests.factories import ConsentRequestFactory, ExportFactory, GrantFactory, Vault, known_as

SAME = {"X-Request-Id": "the-same-id"}


def rest(api: Developer, tool: str, given: dict[str, Any]) -> Any:
    """The same call by REST."""
    match tool:
        case "discover_user_scopes":
            return api.get(f"/user-scopes/{given['user_id']}", headers=SAME)
        case "request_consent":
            return api.post("/request-consent", given, headers=SAME)
        case "check_consent_status":
            return api.get("/consent-status", headers=SAME, request_id=given["request_id"])
        case "get_encrypted_export":
            return api.get("/consent-export", headers=SAME, **given)
        case "end_consent":
            return api.post("/end-consent", given, headers=SAME)
    return api.get("/scope-catalog", headers=SAME)


def good_call(tool: str, app: App, vault: Vault) -> dict[str, Any]:
    """Arguments with which `tool` has something to answer, made anew each time."""
    match tool:
        case "discover_user_scopes":
            return {"user_id": known_as(app, vault.user)}
        case "request_consent":
            return request_body(vault.user)
        case "check_consent_status":
            return {"request_id": ExportFactory(grant__request__app=app).grant.request.request_id}
        case "get_encrypted_export":
            return {"request_id": ExportFactory(grant__request__app=app).grant.request.request_id}
        case "end_consent":
            return {"request_id": ConsentRequestFactory(app=app).request_id}
    return {}


def pending(app: App, **fields: Any) -> dict[str, Any]:
    return {"request_id": ConsentRequestFactory(app=app, **fields).request_id}


def granted(app: App, **fields: Any) -> dict[str, Any]:
    return {"request_id": GrantFactory(request__app=app, **fields).request.request_id}
