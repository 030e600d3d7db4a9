"""Hosts of others let themselves in, unchanged and with nothing pasted; and what the conformance suite says."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import playwright
import pytest
import requests

from accounts.models import User
from deploy.local.serving import free_port
from developers.models import App, OAuthClient
from developers.oauth.clients import register_client
from tests.factories import TokenFactory, give_vault
from tests.fakes.serving import Answering, serving
from tests.system.bridge_js.node import ROOT, install, node, run, version_of
from tests.system.oauth.browser import Browser, opened_by_others
from tests.system.oauth.conftest import DOCUMENT

pytestmark = pytest.mark.django_db(transaction=True)
HERE = Path(__file__).parent
SUITE_NODE = 22  # the oldest that the conformance suite runs on
# Those scenarios of the suite that need no tools, resources or prompts of its own.
SCENARIOS = (
    "server-initialize", "server-session-lifecycle", "ping", "tools-list", "resources-list", "prompts-list",
    "server-sse-multiple-streams", "dns-rebinding-protection", "caching", "http-header-validation",
    "sep-2164-resource-not-found", "input-required-result-unsupported-methods", "server-stateless",
)  # fmt: skip
# What one of them looks for with tools that only servers made for the suite have.
NOT_TESTABLE = {
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
}


@pytest.fixture
def page(service: str, person: User) -> Iterator[str]:
    """Where hosts send the person, who has a vault."""
    give_vault(person)
    with opened_by_others(Browser(service, person.email)) as address:
        yield address


# --- the official TypeScript SDK --------------------------------------------------------------------------------------
@pytest.mark.parametrize("client", ["newest", "first"])
@pytest.mark.parametrize("has_document", [False, True], ids=["registers itself", "has a document"])
def test_the_typescript_sdk_connects_and_refreshes(
    service: str, page: str, site: str, client: str, has_document: bool
) -> None:
    folder = ROOT / "tests" / "system" / "mcp_ts"
    install(folder)

    printed = run("oauth.mjs", client, cwd=folder, SERVICE=service, BROWSER=page, DOCUMENT=site if has_document else "")
    found = json.loads(printed)

    assert found["scopes"] > 0
    assert "user_id" not in found["names"]
    assert found["scope"] == "discover request"
    assert (found["client_id"] == DOCUMENT) is has_document
    assert OAuthClient.objects.get().client_id == found["client_id"]


# --- fastmcp ----------------------------------------------------------------------------------------------------------
OPENS = """
import os, sys, urllib.request as http
led = http.urlopen(http.Request(os.environ["PAGE"], sys.argv[1].encode())).read().decode()
http.urlopen(led).read()
"""
HOST = """
import asyncio, json, sys
from fastmcp import Client

async def main():
    async with Client(sys.argv[1], auth="oauth") as client:
        found = await client.call_tool("discover_user_scopes", {"compact": True})
        print(json.dumps([[tool.name for tool in await client.list_tools()], found.structured_content]))

asyncio.run(main())
"""


def test_fastmcp_connects(service: str, page: str, tmp_path: Path) -> None:
    """Its own client, its own callback server; what it takes for the browser is the person's."""
    called(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    locked = ["--quiet", "--no-compile", "--require-hashes", "--no-deps", "--requirement", HERE / "requirements.lock"]
    called(sys.executable, "-m", "pip", "--python", python, "install", *locked)
    (tmp_path / "opens.py").write_text(OPENS)
    (tmp_path / "host.py").write_text(HOST)

    opens = f"{python} {tmp_path / 'opens.py'} %s &"  # a browser is not waited for
    printed = called(
        python, tmp_path / "host.py", f"{service}/mcp", BROWSER=opens, PAGE=page, HOME=str(tmp_path), NO_PROXY="*"
    )
    tools, found = json.loads(printed)

    assert "request_consent" in tools
    assert found["scope_entries"]
    assert App.objects.get(mode="personal").tokens.count() == 1


def called(*words: Any, **environ: str) -> str:
    """What a command printed, where it did what it was called for."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_TARGET"))}
    done = subprocess.run(
        [str(word) for word in words],
        env={**inherited, **environ},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


# --- the conformance suite --------------------------------------------------------------------------------------------
@pytest.fixture(scope="session")
def suite() -> list[str]:
    """The suite's command."""
    install(ROOT / "tests" / "node")
    bundled = str(Path(playwright.__file__).parent / "driver" / "node")
    runs = next((found for found in (node(), bundled) if version_of(found) >= SUITE_NODE), None)
    if runs is None:
        pytest.skip(f"Node {SUITE_NODE} or newer is not installed")
    return [runs, str(ROOT / "tests/node/node_modules/@modelcontextprotocol/conformance/dist/index.js")]


def failed_checks(folder: Path) -> set[str]:
    """The IDs of the checks that failed; some of the suite's are there twice."""
    found = [check for file in folder.rglob("checks.json") for check in json.loads(file.read_text())]
    assert found
    return {check["id"] for check in found if check["status"] == "FAILURE"}


@contextmanager
def with_token(service: str, token: str) -> Iterator[str]:
    """The address of what adds a token to each call, as a host does that keeps one; the suite cannot."""

    class Handler(Answering):
        def post(self) -> None:
            self.send("POST", self.body())

        def get(self) -> None:
            self.send("GET", None)

        def send(self, method: str, body: bytes | None) -> None:
            given = {**self.headers, "Authorization": f"Bearer {token}"}
            answer = http.request(method, service + self.path, data=body, headers=given, timeout=60)
            kept = ("Content-Type", "WWW-Authenticate", "Cache-Control")
            self.answer(answer.status_code, answer.content, {n: v for n, v in answer.headers.items() if n in kept})

    with requests.Session() as http, serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as address:
        http.trust_env = False
        yield address


def test_the_suites_server_scenarios_pass(service: str, app: App, suite: list[str], tmp_path: Path) -> None:
    failed: dict[str, set[str]] = {}
    with with_token(service, TokenFactory(app=app).secret) as address:
        for scenario in SCENARIOS:
            words = ["server", "--url", f"{address}/mcp", "--scenario", scenario, "-o", tmp_path / scenario]
            subprocess.run([*suite, *map(str, words)], capture_output=True, timeout=120, check=False)
            failed[scenario] = failed_checks(tmp_path / scenario)

    assert {scenario: found for scenario, found in failed.items() if found} == {"server-stateless": NOT_TESTABLE}


def test_the_suites_authorization_scenarios_pass(service: str, person: User, suite: list[str], tmp_path: Path) -> None:
    """The suite prints where the person goes, and waits at an address of its own for them to come back."""
    browser, port = Browser(service, person.email), free_port()
    client, _ = register_client(
        {"redirect_uris": [f"http://127.0.0.1:{port}/callback", f"http://localhost:{port}/callback"]}
    )
    words = ["authorization", "--url", service, "--client-id", client.client_id, "--resource", f"{service}/mcp"]
    command = [*suite, *words, "--port", str(port), "--output-dir", str(tmp_path)]

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        assert running.stdout is not None
        lines = []
        for line in running.stdout:
            lines.append(line)
            if found := re.search(rf"{re.escape(service)}/oauth/authorize/\S+", line):
                requests.get(browser.allow(found[0]), timeout=60, proxies={"http": ""})
        assert running.wait(120) == 0, "".join(lines)

    assert failed_checks(tmp_path) == set()
