"""What is copied out of the portal to make the first call, with the app's own values."""

import json
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from common.text import StrOrPromise

_CURL = """\
export CONSENT_BASE_URL={base}
export CONSENT_DEVELOPER_TOKEN={token}
curl -H "Authorization: Bearer $CONSENT_DEVELOPER_TOKEN" "$CONSENT_BASE_URL/scope-catalog"
"""
_PYTHON = """\
from consent_bridge.client import Client

with Client("{base}", "{token}") as client:
    for entry in client.catalog():
        print(entry.scope, entry.label)
"""
_NODE = """\
import {{ Client }} from "consent-bridge";

const client = new Client("{base}", "{token}");
for (const entry of await client.catalog()) console.log(entry.scope, entry.label);
"""
_MANAGE = """\
export CONSENT_BASE_URL={base}
export CONSENT_MANAGEMENT_TOKEN={token}
curl -H "Authorization: Bearer $CONSENT_MANAGEMENT_TOKEN" "$CONSENT_BASE_URL/manage/apps"
"""
_STDIO = """\
export CONSENT_BASE_URL={base}
export CONSENT_DEVELOPER_TOKEN={token}
consent-bridge serve
"""


@dataclass(frozen=True)
class Snippet:
    """A text to copy. `name` is unique on the page; `title` says where it goes, `note` what to mind."""

    name: str
    title: StrOrPromise
    text: str
    note: StrOrPromise = ""


def snippets_of_token(token: str, *, header_only: bool) -> list[Snippet]:
    """For a developer token: a first call in three ways, and the configuration of hosts of the tools."""
    values = {"base": f"{settings.BASE_URL}/api/v1", "token": token}
    in_address = Snippet(
        "mcp-address",
        _("The same for a host that sends no headers (mcpServers)"),
        _json({"mcpServers": {"consent": {"url": f"{settings.BASE_URL}/mcp?token={token}"}}}),
        _("Some hosts log addresses, so use the form with the header where your host can send one."),
    )
    return [
        Snippet("curl", _("Shell"), _CURL.format(**values)),
        Snippet("python", _("Python, with consent-bridge"), _PYTHON.format(**values)),
        Snippet("node", _("Node, with consent-bridge"), _NODE.format(**values)),
        Snippet("mcp", _("A host that calls remote tools (mcpServers)"), _json(_remote("mcpServers", token))),
        *([] if header_only else [in_address]),
        Snippet("vscode", _("Visual Studio Code (.vscode/mcp.json)"), _json(_remote("servers", token, type="http"))),
        Snippet("desktop", _("Claude Desktop (claude_desktop_config.json)"), _json(_bridge(**values))),
        Snippet("stdio", _("The bridge on standard input and output"), _STDIO.format(**values)),
    ]


def snippets_of_management_token(token: str) -> list[Snippet]:
    values = {"base": f"{settings.BASE_URL}/api/v1", "token": token}
    return [Snippet("curl", _("Shell"), _MANAGE.format(**values))]


def _remote(member: str, token: str, **more: str) -> dict[str, Any]:
    server = {**more, "url": f"{settings.BASE_URL}/mcp", "headers": {"Authorization": f"Bearer {token}"}}
    return {member: {"consent": server}}


def _bridge(base: str, token: str) -> dict[str, Any]:
    environment = {"CONSENT_BASE_URL": base, "CONSENT_DEVELOPER_TOKEN": token}
    return {"mcpServers": {"consent": {"command": "consent-bridge", "args": ["serve"], "env": environment}}}


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2) + "\n"
