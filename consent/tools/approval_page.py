"""URL elicitation of the approval page, on the newest revision: request_consent as a multi-round-trip request.

The first round makes the consent request, keeps its answer in `requestState` and has the host open the approval page.
The second round answers with that same request. Whether the host says accept, decline or cancel is no decision: only
the person decides, on the page. The SDK seals the state and binds it to the app, the tool and its arguments.
"""

from typing import Any

import mcp_types as mcp
import orjson
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from common.clock import database_now, utc
from consent import status
from consent.tools.context import CallContext

STATE_LIFETIME = 86400.0  # seconds
_INPUT_NAME = "approval_page"


def is_supported(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether this host declares URL elicitation, on a revision that has multi-round-trip requests."""
    declared = context.session.client_capabilities
    elicits = declared is not None and declared.elicitation is not None and declared.elicitation.url is not None
    return elicits and context.protocol_version in MODERN_PROTOCOL_VERSIONS


def elicit(call: CallContext, answer: dict[str, Any]) -> mcp.InputRequiredResult:
    """The result of the first round: what has the host open the page."""
    message = (
        f"{call.app.app_name} asks to read “{answer['scope_label']}”. Open the consent app to see what and why, and "
        "decide there. Opening it shares nothing."
    )
    page = mcp.ElicitRequest(params=mcp.ElicitRequestURLParams(message=message, url=answer["approval_url"]))
    return mcp.InputRequiredResult(input_requests={_INPUT_NAME: page}, request_state=orjson.dumps(answer).decode())


def resume(call: CallContext, state: str) -> dict[str, Any]:
    """The answer of the second round: that of the first, with the status of the request by now."""
    answer: dict[str, Any] = orjson.loads(state)
    current = status.for_app(app_pk=call.app.app_pk, request_id=answer["request_id"])
    expires_at = utc(answer["expires_at"]) or database_now()
    expires_in = max(0, round((expires_at - database_now()).total_seconds()))
    return answer | {"status": current["status"], "expires_in": expires_in}
