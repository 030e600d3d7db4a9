"""The SDK's own server with one small tool: no token, no database, no limits, nothing of this project.

The SDK's lower-level server, which is the faster of its two: the higher one models every tool's answer anew.
"""

import json
import sys
from typing import Any

import mcp_types as mcp
import uvicorn
from mcp.server.lowlevel import Server

ANSWER = {
    "request_id": "req_4tx2mjm3cwi6q7ezu6c4qiyn7a",
    "status": "approved",
    "user_id": "usr_t2zp3gog7m6odtqhjuqhpevyku",
    "scope": "attr.lifestyle.food.*",
    "interval": 5,
    "created_at": "2026-11-20T10:00:00Z",
    "expires_at": "2026-11-21T10:00:00Z",
    "decided_at": "2026-11-20T10:02:10Z",
    "receipt_id": "rct_y3hx5vqv5mzl2w6t4c7p2e3kka",
    "sequence": 41,
    "grant": {
        "grant_id": "grt_k6q5d5xkqv7wq3m7n2u2b4hjye",
        "status": "active",
        "expires_at": "2026-11-27T10:02:10Z",
        "reads": 0,
        "reads_remaining": None,
        "approved_attributes": ["lifestyle.food.favorite_cuisine"],
        "export_revision": 1,
    },
}
TOOL = mcp.Tool(name="check_consent_status", input_schema={"type": "object"})


async def list_tools(context: Any, params: mcp.PaginatedRequestParams | None) -> mcp.ListToolsResult:
    return mcp.ListToolsResult(tools=[TOOL])


async def call_tool(context: Any, params: mcp.CallToolRequestParams) -> mcp.CallToolResult:
    answer = {**ANSWER, "request_id": (params.arguments or {})["request_id"]}
    return mcp.CallToolResult(content=[mcp.TextContent(text=json.dumps(answer))], structured_content=answer)


if __name__ == "__main__":
    server: Server[Any] = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    application = server.streamable_http_app(json_response=True, stateless_http=True)
    uvicorn.run(application, port=int(sys.argv[1]), log_level="warning", access_log=False)
