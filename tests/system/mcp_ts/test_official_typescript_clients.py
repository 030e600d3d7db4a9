"""The official TypeScript SDK's clients make whole trips: over HTTP, and through the bridge over stdio."""

import json
import sys

import pytest

from consent_bridge.exports import open_export
from consent_bridge.keys import generate_connector_key, thumbprint
from tests.consent.tools.hosts import TOOLS, header_of
from tests.system.bridge_js.node import ROOT, install, run

HERE = ROOT / "tests" / "system" / "mcp_ts"
NEWEST, PREVIOUS = "2026-07-28", "2025-11-25"
# The SDK's first version tells its revision on HTTP alone.
REVISIONS = {
    ("newest", "http"): NEWEST,
    ("newest", "stdio"): NEWEST,
    ("legacy", "http"): PREVIOUS,
    ("legacy", "stdio"): PREVIOUS,
    ("first", "http"): PREVIOUS,
    ("first", "stdio"): None,
}


@pytest.fixture(scope="session")
def clients():
    """The SDK's clients and the compiler, as the lock file has them."""
    install(HERE)
    install(ROOT / "bridge-js")


@pytest.mark.parametrize(("client", "transport"), REVISIONS)
def test_whole_trip(clients, trip, tmp_path, client, transport):
    key = generate_connector_key()
    bridge = {
        "PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT / "bridge"),
        "CONSENT_BRIDGE_STATE": str(tmp_path),
        "CONSENT_BASE_URL": f"{trip['SERVICE']}/api/v1",
        "CONSENT_DEVELOPER_TOKEN": trip["TOKEN"],
    }

    made = json.loads(run("trip.mjs", client, transport, cwd=HERE, **trip, **bridge, KEY=json.dumps(key)))

    assert made["revision"] == REVISIONS[client, transport]
    assert (made["status"], made["early"], made["late"]) == ("approved", "authorization_pending", "grant_ended")
    elicited = (client, transport) == ("newest", "http")
    assert made["opened"] == ([made["madeRequest"]["approval_url"]] if elicited else [])
    wanted = {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
    if transport == "stdio":
        assert made["tools"] == [*TOOLS, "read_approved_data"]
        assert made["data"] == wanted
    else:
        assert made["tools"] == list(TOOLS)
        assert made["madeRequest"]["connector_fingerprint"] == thumbprint(key)
        assert open_export(made["jwe"], key, header_of(made["madeRequest"])).data == wanted


def test_types_of_bridge_js_are_what_its_modules_do(clients):
    """The compiler reads the modules with their comments, and a program that uses the declarations."""
    assert run("node_modules/typescript/bin/tsc", "-p", ".", cwd=HERE) == ""
