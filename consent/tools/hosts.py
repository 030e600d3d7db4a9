"""What a host that was let in by OAuth need not say, since it is known (contract 7): no model carries keys about."""

from typing import Any

from consent.connector_keys.queries import newest_usable_key_id
from consent.requests.named_keys import KEY_OF_NOBODY, key_id_of_host
from consent.schemas import WRAPPING_ALGORITHM
from consent.tools.catalogue import Tool
from consent.tools.context import CallContext
from consent.tools.operations import REQUEST_CONSENT
from developers.authentication import AppContext
from developers.models import Permission
from developers.oauth.queries import person_of_app

_KEY = frozenset({"connector_public_key", "connector_key_id", "connector_wrapping_alg"})
_PERSON = "user_id"


def not_needed_by(app: AppContext) -> frozenset[str]:
    """The arguments that this host may leave out."""
    if not app.is_host:
        return frozenset()
    return _KEY | {_PERSON} if app.is_personal else _KEY


def with_what_is_known(call: CallContext, tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments, and what the host left out of them."""
    if not call.app.is_host:
        return arguments
    known: dict[str, Any] = {}
    if call.app.is_personal and _PERSON in tool.arguments.model_fields and _PERSON not in arguments:
        known[_PERSON] = person_of_app(call.app.app_pk)
    if tool.name == REQUEST_CONSENT:
        known["connector_wrapping_alg"] = WRAPPING_ALGORITHM
        if arguments.get("connector_key_id") is None:
            of_host = key_id_of_host(call.app) if call.app.is_personal else None
            of_nobody = None if Permission.READ in call.app.permissions else KEY_OF_NOBODY
            known["connector_key_id"] = of_host or newest_usable_key_id(app_pk=call.app.app_pk) or of_nobody
    return {**arguments, **known}
