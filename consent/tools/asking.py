"""Opening the approval page through the host, on the newest revision: two rounds of one tool call.

The first round asks, keeps the answer in state that the host carries sealed, and has the host open the page. The second
round answers with that same request, whatever the host says of the page: opened, declined or closed, none of it is a
decision. The state is bound to the app, the tool and its arguments, so to the person, and holds the request.
"""

from typing import Any

import mcp_types as mcp
import orjson
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from accounts.database import database_now, utc
from consent import queries
from consent.tools.calling import Call

TOOL = "request_consent"
KEPT_SECONDS = 86400.0
_PAGE = "approval_page"


def opens_pages(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether this host declares that it opens pages for people, in a revision that knows rounds."""
    declared = context.session.client_capabilities
    elicits = declared is not None and declared.elicitation is not None and declared.elicitation.url is not None
    return elicits and context.protocol_version in MODERN_PROTOCOL_VERSIONS


def page_first(call: Call, answer: dict[str, Any]) -> mcp.InputRequiredResult:
    """What has the host open the page."""
    message = (
        f"{call.app.app_name} asks to read “{answer['scope_label']}”. Open the consent app to see what and why, and "
        "decide there. Opening it shares nothing."
    )
    page = mcp.ElicitRequest(params=mcp.ElicitRequestURLParams(message=message, url=answer["approval_url"]))
    return mcp.InputRequiredResult(input_requests={_PAGE: page}, request_state=orjson.dumps(answer).decode())


def again(call: Call, state: str) -> dict[str, Any]:
    """The answer of the first round, with how the request stands by now."""
    answer: dict[str, Any] = orjson.loads(state)
    standing = queries.status_body(app_pk=call.app.app_pk, request_id=answer["request_id"])
    expires_at = utc(answer["expires_at"]) or database_now()
    left = max(0, round((expires_at - database_now()).total_seconds()))
    return answer | {"status": standing["status"], "expires_in": left}
