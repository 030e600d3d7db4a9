"""The MCP inspector's command line lists and calls the tools over a real socket.

Needs Node and the inspector: `npm ci --prefix tests/node`, or its command in MCP_INSPECTOR.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from developers.models import App
from tests.consent.tools.hosts import TOOLS
from tests.factories import ConsentRequestFactory, TokenFactory, give_vault, known_as

_INSTALLED = Path(__file__).resolve().parents[3] / "node/node_modules/.bin/mcp-inspector"
COMMAND = os.environ.get("MCP_INSPECTOR") or shutil.which(_INSTALLED) or shutil.which("mcp-inspector")
FAILED_TOOL = 5  # the code by which newer inspectors say that a result is an error
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not COMMAND or not shutil.which("node"), reason="the MCP inspector is not installed"),
]


def inspect(service: str, token: str, *arguments: str) -> dict[str, Any]:
    """What the inspector prints about one method; the token travels as in a host's configuration."""
    done = subprocess.run(
        [str(COMMAND), "--cli", f"{service}/mcp?token={token}", "--transport", "http", *arguments],
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert done.returncode in (0, FAILED_TOOL), done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def call(service: str, token: str, tool: str, **arguments: str) -> dict[str, Any]:
    given = [part for name, value in arguments.items() for part in ("--tool-arg", f"{name}={value}")]
    return inspect(service, token, "--method", "tools/call", "--tool-name", tool, *given)


def test_it_lists_and_calls_the_tools(service: str, app: App, person: User) -> None:
    give_vault(person)
    token = TokenFactory(app=app).secret
    request = ConsentRequestFactory(app=app, user=person)

    listed = inspect(service, token, "--method", "tools/list")["tools"]
    assert tuple(tool["name"] for tool in listed) == TOOLS
    resources = inspect(service, token, "--method", "resources/list")["resources"]
    assert len(resources) == 3
    scopes = call(service, token, "discover_user_scopes", user_id=known_as(app, person))["structuredContent"]
    assert scopes["user_id"] == known_as(app, person)
    status = call(service, token, "check_consent_status", request_id=request.request_id)["structuredContent"]
    assert (status["request_id"], status["status"]) == (request.request_id, "pending")
    early = call(service, token, "get_encrypted_export", request_id=request.request_id)
    assert (early["isError"], early["structuredContent"]["code"]) == (True, "authorization_pending")
