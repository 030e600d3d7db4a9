"""The commands that talk to the service, as processes against a real HTTP server."""

import asyncio
import json

import pytest

from consent_bridge.aio import AsyncClient
from consent_bridge.approvals import OwnerKeyChanged
from consent_bridge.errors import Refused
from consent_bridge.keyring import Keyring
from consent_bridge.results import MadeRequest, build
from consent_bridge.signatures import sha256
from consent_bridge.signing import generate_root
from consent_bridge.state import RequestLog, write_private_file
from consent_bridge.tool_arguments import OneRequest
from consent_bridge.toolbox import Toolbox
from tests.bridge.fake_service import Reply, problem
from tests.bridge.refusals import refusal
from tests.bridge.wire import (
    APPROVED,
    DISCOVERY,
    ENTRY,
    KEY,
    MADE_REQUEST,
    PENDING,
    SCOPE,
    TOKEN,
    envelope,
    request_answer,
    signed,
)


@pytest.fixture
def environ(fake, tmp_path):
    key_file = tmp_path / "app.jwk"
    key_file.write_text(json.dumps(KEY))
    return {
        "CONSENT_BASE_URL": f"{fake.url}/api/v1",
        "CONSENT_DEVELOPER_TOKEN": TOKEN,
        "CONSENT_CONNECTOR_KEY": str(key_file),
    }


def test_status_and_end_print_the_status(fake, cli, environ):
    fake.on("GET", "/api/v1/consent-status", Reply(PENDING))
    fake.on("POST", "/api/v1/end-consent", Reply({**PENDING, "status": "cancelled"}))

    shown, ended = cli("status", "req_a", **environ), cli("end", "req_a", **environ)

    assert json.loads(shown.stdout) == PENDING
    assert json.loads(ended.stdout)["status"] == "cancelled"
    assert [done.returncode for done in (shown, ended)] == [0, 0]
    assert fake.calls("/api/v1/end-consent")[0].json() == {"request_id": "req_a"}


def test_command_line_goes_the_whole_way(fake, cli, environ):
    fake.on("GET", "/api/v1/user-scopes/usr_a", Reply(DISCOVERY))
    fake.on("GET", "/api/v1/scope-catalog", Reply({"scope_entries": [ENTRY]}))
    answer = request_answer(required_attributes=["lifestyle.food.favorite_cuisine"])
    header = {"request_digest": answer["request_digest"]}
    fake.on("POST", "/api/v1/request-consent", Reply(answer, 201))
    fake.on("GET", "/api/v1/consent-status", Reply(APPROVED))
    fake.on("GET", "/api/v1/consent-export", Reply(envelope(2, header=header)), Reply(envelope(1, header=header)))
    ask = ["request", "usr_a", SCOPE, "--purpose", "Suggest food", "--required", "lifestyle.food.favorite_cuisine"]

    discovered = cli("discover", "usr_a", **environ)
    catalog = cli("discover", **environ)
    requested = cli(*ask, **environ)
    waited = cli("wait", "req_a", "--timeout", "5", **environ)
    read = cli("read", "req_a", **environ)
    older = cli("read", "req_a", **environ)

    assert [json.loads(done.stdout) for done in (discovered, catalog, requested, waited)] == [
        DISCOVERY,
        {"scope_entries": [ENTRY]},
        answer,
        APPROVED,
    ]
    assert json.loads(read.stdout)["data"] == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
    assert [done.returncode for done in (discovered, catalog, requested, waited, read)] == [0] * 5
    assert (older.returncode, older.stdout) == (1, b"")
    assert b"revision 1 is lower than 2" in older.stderr
    assert fake.calls("/api/v1/request-consent")[0].json()["required_attributes"] == ["lifestyle.food.favorite_cuisine"]


def test_command_line_reads_a_request_made_elsewhere(fake, cli, environ, tmp_path):
    fake.on("GET", "/api/v1/consent-export", Reply(envelope(), headers=(("ETag", '"exp_a-json"'),)))
    (tmp_path / "request.json").write_text(json.dumps(MADE_REQUEST))

    done = cli("read", "--request", str(tmp_path / "request.json"), **environ)

    assert "etag" not in json.loads(done.stdout)
    assert json.loads(done.stdout)["data"] == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}


def test_a_new_owner_key_that_was_refused_is_remembered_with_its_time(fake, cli, environ, tmp_path, state):
    answer = {**signed(envelope(), root=generate_root()), "owner_key_reset": True}
    fake.on("GET", "/api/v1/consent-export", Reply(answer))
    (tmp_path / "request.json").write_text(json.dumps(MADE_REQUEST))
    read = ["read", "--request", str(tmp_path / "request.json")]
    x = answer["owner_key"]["x"]

    first = cli(*read, **environ)
    early = cli(*read, "--accept-owner-key", x, **environ)

    assert [done.returncode for done in (first, early)] == [1, 1]
    assert b"this key can be accepted from " in early.stderr
    assert len(fake.calls("/api/v1/consent-export")) == 1
    file = state / "owner_keys.json"
    [(name, kept)] = json.loads(file.read_text()).items()
    kept["new"]["met_at"] -= 7 * 86400
    file.write_text(json.dumps({name: kept}))
    assert json.loads(cli(*read, "--accept-owner-key", x, **environ).stdout)["revision"] == 1


def test_a_running_bridge_notes_a_new_owner_key_and_takes_what_was_accepted_meanwhile(fake, state):
    answer = {**signed(envelope(), root=generate_root()), "owner_key_reset": True}
    fake.on("GET", "/api/v1/consent-export", Reply(answer))
    log, name = RequestLog(state), f"{MADE_REQUEST['issuer']} {MADE_REQUEST['user_id']}"
    log.keep(build(MadeRequest, MADE_REQUEST))
    write_private_file(state / "connector-key.json", KEY)

    async def read_twice():
        async with AsyncClient(f"{fake.url}/api/v1", TOKEN, pins=log.owner_keys.load()) as client:
            toolbox = Toolbox(client, Keyring(state), log)
            with pytest.raises(OwnerKeyChanged):
                await toolbox.read_approved_data(OneRequest(request_id="req_a"))
            assert log.owner_keys.load().dump()[name]["new"]["x"] == answer["owner_key"]["x"]
            write_private_file(state / "owner_keys.json", {name: {"key": answer["owner_key"]}}, force=True)
            return await toolbox.read_approved_data(OneRequest(request_id="req_a"))

    assert asyncio.run(read_twice())["revision"] == 1


def test_what_cannot_be_remembered_is_neither_asked_nor_read(fake, cli, environ, state, tmp_path):
    fake.on("POST", "/api/v1/request-consent", Reply(MADE_REQUEST, 201))
    fake.on("GET", "/api/v1/consent-export", Reply(envelope()))
    (tmp_path / "request.json").write_text(json.dumps(MADE_REQUEST))
    state.mkdir()
    (state / "requests").touch()  # where a directory has to be

    requested = cli("request", "usr_a", SCOPE, "--purpose", "Suggest food", **environ)
    read = cli("read", "--request", str(tmp_path / "request.json"), **environ)

    assert [refusal(done) for done in (requested, read)] == [f"{state}/requests cannot be written: File exists"] * 2
    assert fake.received == []


def test_what_was_asked_or_read_is_printed_where_it_cannot_be_remembered(fake, cli, environ, state, tmp_path):
    def spoiling(reply):
        """From this answer on nothing can be written."""

        def answered(call):
            (state / "requests").rmdir()
            (state / "requests").touch()
            return reply

        return answered

    fake.on("POST", "/api/v1/request-consent", spoiling(Reply(MADE_REQUEST, 201)))
    fake.on("GET", "/api/v1/consent-export", spoiling(Reply(envelope())))
    (tmp_path / "request.json").write_text(json.dumps(MADE_REQUEST))

    requested = cli("request", "usr_a", SCOPE, "--purpose", "Suggest food", **environ)
    (state / "requests").unlink()
    read = cli("read", "--request", str(tmp_path / "request.json"), **environ)

    assert json.loads(requested.stdout) == MADE_REQUEST
    assert json.loads(read.stdout)["data"] == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
    assert [done.returncode for done in (requested, read)] == [1, 1]
    assert b"the request was made, but is not remembered: " in requested.stderr
    assert b"it was read, but that is not remembered: " in read.stderr


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_tool_answers_what_was_read_where_it_cannot_be_remembered(fake, state, when, caplog):
    log = RequestLog(state)
    log.keep(build(MadeRequest, MADE_REQUEST))
    write_private_file(state / "connector-key.json", KEY)

    def answered(call):
        (state / "owner_keys.json").mkdir()
        return Reply(envelope(), headers=(("ETag", '"exp_a-json"'),))

    fake.on("GET", "/api/v1/consent-export", answered)
    if when == "before":
        (state / "owner_keys.lock").mkdir()

    async def read():
        async with AsyncClient(f"{fake.url}/api/v1", TOKEN, pins=log.owner_keys.load()) as client:
            return await Toolbox(client, Keyring(state), log).read_approved_data(OneRequest(request_id="req_a"))

    if when == "before":
        with pytest.raises(Refused, match="cannot be written"):
            asyncio.run(read())
        assert fake.received == []
    else:
        answer = asyncio.run(read())
        assert answer["data"] == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
        assert "etag" not in answer
        assert caplog.messages == ["an export was read, but that cannot be remembered"]


def test_the_highest_revision_stays_where_a_later_one_was_read_meanwhile(state):
    request = build(MadeRequest, MADE_REQUEST)
    for revision in (5, 3, 0):
        RequestLog(state).keep(request, revision=revision)

    assert RequestLog(state).find(request.request_id) == (request, 5)


def test_a_read_that_begins_before_what_another_one_met_is_kept_loses_none_of_it(fake, state):
    answers = [envelope(), envelope(), envelope()]
    fake.on("GET", "/api/v1/consent-export", *map(Reply, answers))
    log, one = RequestLog(state), OneRequest(request_id="req_a")
    log.keep(build(MadeRequest, MADE_REQUEST))
    write_private_file(state / "connector-key.json", KEY)

    async def read_thrice():
        overlapping = []

        class Overlapped(AsyncClient):
            async def read(self, *given, **named):
                opened = await super().read(*given, **named)
                if len(fake.received) == 2:
                    overlapping.append(asyncio.create_task(toolbox.read_approved_data(one)))
                    await asyncio.sleep(0)  # it goes as far as it can
                return opened

        async with Overlapped(f"{fake.url}/api/v1", TOKEN, pins=log.owner_keys.load()) as client:
            toolbox = Toolbox(client, Keyring(state), log)
            await toolbox.read_approved_data(one)
            await toolbox.read_approved_data(one)
            await overlapping[0]

    asyncio.run(read_thrice())

    [kept] = log.owner_keys.load().dump().values()
    assert kept["approvals"] == [sha256(answer["approval"]) for answer in answers]


def test_command_line_waits_for_a_yes(fake, cli, environ):
    fake.on("GET", "/api/v1/consent-status", Reply({**PENDING, "status": "denied"}))

    done = cli("wait", "req_a", **environ)

    assert done.returncode == 1
    assert json.loads(done.stdout)["status"] == "denied"
    assert done.stderr == b"consent-bridge: the request is denied\n"


def test_command_line_waits_for_ever(fake, cli, environ):
    fake.on("GET", "/api/v1/consent-status", Reply(PENDING), Reply(APPROVED))

    done = cli("wait", "req_a", "--timeout", "inf", **environ)

    assert (done.returncode, done.stderr) == (0, b"")
    assert [call.query["wait"] for call in fake.received] == ["30", "30"]


def test_command_line_says_what_the_service_said(fake, cli, environ):
    fake.on("GET", "/api/v1/user-scopes/usr_a", problem("unknown_user", 404, detail="No such\nperson."))

    done = cli("discover", "usr_a", **environ)

    assert (done.returncode, done.stdout) == (1, b"")
    expected = f"consent-bridge: {fake.url}/api/v1: unknown_user (404): No such person.\n"
    assert done.stderr.decode() == expected
