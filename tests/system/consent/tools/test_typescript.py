"""The official TypeScript client makes whole trips over a real socket, on the newest and the previous revision.

Needs Node and the client: `npm ci --prefix tests/node`, or the path of `node_modules/@modelcontextprotocol/client`
elsewhere in MCP_TYPESCRIPT.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from consent.decisions import actions as decision_actions
from consent.requests.models import ConsentRequest
from developers.models import App
from tests.consent.api.addresses import FOOD, asked
from tests.consent.decisions import approval
from tests.consent.tools.hosts import NEWEST, PREVIOUS, TOOLS
from tests.factories import TokenFactory, give_vault
from tests.patience import MOST_SECONDS

_INSTALLED = Path(__file__).resolve().parents[3] / "node/node_modules/@modelcontextprotocol/client"
FOLDER = os.environ.get("MCP_TYPESCRIPT") or (str(_INSTALLED) if _INSTALLED.is_dir() else "")
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not FOLDER or not shutil.which("node"), reason="the TypeScript client is not installed"),
]


class TypeScriptHost:
    """The script beside this file, line by line."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.hello = self._line()

    def _line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the client ended; what it said is above"
        told: dict[str, Any] = json.loads(line)
        return told

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"tool": tool, "arguments": arguments}) + "\n")
        self._process.stdin.flush()
        return self._line()

    def answer(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.call(tool, **arguments)
        assert not result["isError"], result
        answer: dict[str, Any] = result["answer"]
        return answer


@contextmanager
def host(address: str, mode: str) -> Iterator[TypeScriptHost]:
    script = Path(__file__).with_name("typescript_host.mjs")
    process = subprocess.Popen(
        ["node", str(script), FOLDER, address, mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield TypeScriptHost(process)
    finally:
        process.stdin.close()  # type: ignore[union-attr]  # it is piped
        process.wait(MOST_SECONDS)
        process.stdout.close()  # type: ignore[union-attr]  # it is piped


@pytest.mark.parametrize(("mode", "revision"), [(NEWEST, NEWEST), ("legacy", PREVIOUS)])
def test_a_whole_trip(mode: str, revision: str, service: str, app: App, person: User) -> None:
    vault = give_vault(person)
    with host(f"{service}/mcp?token={TokenFactory(app=app).secret}", mode) as caller:
        assert caller.hello == {"revision": revision, "tools": list(TOOLS)}
        assert FOOD in caller.answer("discover_user_scopes", user_id=person.public_id)["scopes"]
        made = caller.call("request_consent", **asked(person))
        request_id = made["answer"]["request_id"]
        assert made["opened"] == ([made["answer"]["approval_url"]] if mode == NEWEST else [])
        early = caller.call("get_encrypted_export", request_id=request_id)
        assert (early["isError"], early["answer"]["code"]) == (True, "authorization_pending")

        request = ConsentRequest.objects.get(request_id=request_id, status="pending")
        decision_actions.approve(request_id=request_id, by=person, body=approval(request, vault))

        assert caller.answer("check_consent_status", request_id=request_id, wait_seconds=10)["status"] == "approved"
        assert caller.answer("get_encrypted_export", request_id=request_id)["jwe"].count(".") == 4
        assert caller.answer("end_consent", request_id=request_id)["grant"]["status"] == "released"
