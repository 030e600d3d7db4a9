"""The stdio bridge as a host meets it, against the real application."""

import asyncio
import json
import stat

import pytest

from consent_bridge.sealed import thumbprint
from tests.factories import invitation_of
from tests.system.bridge.hosts import MODES, bridge_environment, call, refused, with_bridge
from tests.system.bridge.steps import CUISINE, PURPOSE, SCOPE

TOOLS = {
    "discover_user_scopes": True,
    "request_consent": False,
    "check_consent_status": True,
    "get_encrypted_export": False,
    "end_consent": False,
    "list_scope_catalog": True,
    "read_approved_data": False,
}


@pytest.fixture
def environment(tmp_path, service, api):
    return bridge_environment(tmp_path / "state", service, api.token)


@pytest.mark.parametrize("revision", MODES)
def test_whole_trip_on_each_revision(environment, owner, person, api, revision, tmp_path):
    invitation = invitation_of(person)

    async def trip(client):
        listed = (await client.list_tools()).tools
        found = await call(client, "discover_user_scopes", user_id=invitation)
        made = await call(client, "request_consent", user_id=invitation, scope=SCOPE, purpose=PURPOSE)
        early = await refused(client, "read_approved_data", request_id=made["request_id"])
        waiting = asyncio.create_task(
            call(client, "check_consent_status", request_id=made["request_id"], wait_seconds=30)
        )
        review = await asyncio.to_thread(owner.review, made["request_id"])
        await asyncio.to_thread(owner.approve, review, attributes=[CUISINE], invited=True)
        status = await waiting
        opened = await call(client, "read_approved_data", request_id=made["request_id"])
        sealed = await call(client, "get_encrypted_export", request_id=made["request_id"])
        ended = await call(client, "end_consent", request_id=made["request_id"])
        late = await refused(client, "read_approved_data", request_id=made["request_id"])
        return client.protocol_version, listed, found, made, early, status, opened, sealed, ended, late

    result, log = with_bridge(environment, trip, mode=MODES[revision])
    spoken, listed, found, made, early, status, opened, sealed, ended, late = result

    assert spoken == revision
    assert {tool.name: tool.annotations.read_only_hint for tool in listed} == TOOLS
    assert all(tool.input_schema["type"] == tool.output_schema["type"] == "object" for tool in listed)
    assert SCOPE in found["scopes"]
    assert (early["code"], late["code"]) == ("authorization_pending", "grant_ended")
    assert status["status"] == "approved"
    assert opened["data"] == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
    assert sealed["jwe"].count(".") == 4
    assert ended["grant"]["status"] == "released"
    assert_log_has_none_of(log, api.token, made["request_id"], "Thai", SCOPE)
    key_file = tmp_path / "state" / "connector-key.json"
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    key = json.loads(key_file.read_text())
    assert thumbprint(key) == made["connector_fingerprint"]
    assert key["d"] not in log


def assert_log_has_none_of(log, *secrets):
    assert "request_consent: done" in log
    assert [secret for secret in secrets if secret in log] == []


def test_key_is_rotated_and_the_earlier_one_still_opens(environment, owner, person, cli):
    own = {name: value for name, value in environment.items() if name.startswith("CONSENT_")}
    invitation = invitation_of(person)

    async def ask(client):
        made = await call(client, "request_consent", user_id=invitation, scope=SCOPE, purpose=PURPOSE)
        await asyncio.to_thread(
            lambda: owner.approve(owner.review(made["request_id"]), attributes=[CUISINE], invited=True)
        )
        return made

    async def rotate_and_read(client):
        rotated = await asyncio.to_thread(cli, "rotate-key", "--curve", "P-256", **own)
        opened = await call(client, "read_approved_data", request_id=first["request_id"])
        await call(client, "end_consent", request_id=first["request_id"])
        return json.loads(rotated.stdout), opened, await ask(client)

    first, _ = with_bridge(environment, ask)
    (rotated, opened, second), _ = with_bridge(environment, rotate_and_read)

    assert opened["data"] == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
    assert rotated["earlier_thumbprint"] == first["connector_fingerprint"]
    assert rotated["thumbprint"] == second["connector_fingerprint"] != first["connector_fingerprint"]
    assert rotated["connector_public_key"]["crv"] == "P-256"


def test_no_call_approves(environment, owner, person):
    invitation = invitation_of(person)

    async def try_all(client):
        made = await call(client, "request_consent", user_id=invitation, scope=SCOPE, purpose=PURPOSE)
        for tool in (await client.list_tools()).tools:
            for more in ({}, {"decision": "approve"}, {"status": "approved"}, {"approved_attributes": [CUISINE]}):
                if tool.name != "end_consent":
                    await client.call_tool(tool.name, {"request_id": made["request_id"], **more})
        return await call(client, "check_consent_status", request_id=made["request_id"])

    status, _ = with_bridge(environment, try_all)

    assert (status["status"], status["grant"]) == ("pending", None)
