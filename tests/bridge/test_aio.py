"""The asynchronous client: the same calls and checks as the other, over a transport of its own."""

import asyncio
import inspect
import math
from functools import partial

import pytest

from consent_bridge import streams
from consent_bridge.aio import AsyncClient
from consent_bridge.aio_sandbox import AsyncSandboxPerson
from consent_bridge.client import Client
from consent_bridge.errors import BadAnswer, KeyRefused, Problem, Refused, Unreachable, WaitTimeout
from consent_bridge.holder import VaultHolder
from consent_bridge.results import AskedConsent, build
from consent_bridge.sandbox import SandboxPerson
from consent_bridge.sealed import generate_connector_key
from consent_bridge.streams import Stream
from tests.bridge.fake_service import DROP, Reply, problem
from tests.bridge.signed_receipts import CLAIMS, OTHER_KEY, SIGNING_KEY, jwks, signed
from tests.bridge.test_streams import event
from tests.bridge.wire import APPROVED, ASKED, DISCOVERY, KEY, PENDING, SCOPE, TOKEN, asked_for, envelope
from tests.patience import MOST_SECONDS

LIMITED = {"request_digest": asked_for(max_reads=3)["request_digest"]}


@pytest.fixture
def run(fake, pauses):
    """Run a coroutine function with a client against the fake."""

    async def pause(seconds):
        pauses.append(seconds)

    def run(act, **options):
        async def inside():
            async with AsyncClient(f"{fake.url}/api/v1/", TOKEN, pause=pause, **options) as client:
                return await act(client)

        return asyncio.run(inside())

    return run


def public_methods(kind):
    return {
        name: inspect.signature(call)
        for name, call in vars(kind).items()
        if callable(call) and not name.startswith("_")
    }


def test_both_clients_offer_the_same():
    def shape(kind):
        return {name: list(found.parameters.values()) for name, found in public_methods(kind).items()}

    assert shape(AsyncClient) == shape(Client)


def test_a_person_is_played_alike_by_both():
    played = {**public_methods(VaultHolder), **public_methods(SandboxPerson)}

    assert {name: list(found.parameters) for name, found in public_methods(AsyncSandboxPerson).items()} == {
        name: list(found.parameters) for name, found in played.items()
    }
    assert {"user_id", "vault_key", "label"} <= set(dir(AsyncSandboxPerson))


def test_a_person_is_played_by_the_clients_own_calls(fake, run):
    """With its token, its limits and its errors; a read is tried again, a decision never."""
    fake.on("GET", "/api/v1/sandbox/people/usr_a/keys", problem("temporarily_unavailable", 503), Reply({"user_id": 1}))
    fake.on("POST", "/api/v1/sandbox/people/usr_a/clock", problem("temporarily_unavailable", 503))

    async def act(client):
        person = client.sandbox_person("usr_a")
        with pytest.raises(BadAnswer):
            await person.vault()
        with pytest.raises(Problem) as refused:
            await person.expire(60)
        with pytest.raises(KeyRefused):
            _ = person.vault_key
        return refused.value

    assert run(act).code == "temporarily_unavailable"
    assert [(asked.method, asked.headers["authorization"]) for asked in fake.asked] == [
        ("GET", f"Bearer {TOKEN}"), ("GET", f"Bearer {TOKEN}"), ("POST", f"Bearer {TOKEN}")
    ]  # fmt: skip


def test_whole_way_from_asking_to_the_slice(fake, run):
    fake.on("GET", "/api/v1/user-scopes/usr_a", Reply(DISCOVERY))
    fake.on("POST", "/api/v1/request-consent", Reply(asked_for(max_reads=3), 201))
    fake.on("GET", "/api/v1/consent-status", Reply(PENDING), Reply(APPROVED))
    fake.on(
        "GET",
        "/api/v1/consent-export",
        Reply(envelope(header=LIMITED), headers=(("ETag", '"exp_a-json"'),)),
        Reply(b"", 304),
    )

    async def go(client):
        found = await client.discover("usr_a")
        asked = await client.request_consent("usr_a", SCOPE, purpose="Suggest food", key=KEY, max_reads=3)
        status = await client.wait_for_decision(asked.request_id, timeout=60)
        opened = await client.read(asked, KEY)
        return found.scopes, status.status, opened, await client.read_newer(asked, KEY, opened)

    scopes, status, opened, newer = run(go)

    assert (scopes, status, newer) == ((SCOPE,), "approved", None)
    assert opened.data == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
    assert fake.calls("/api/v1/request-consent")[0].json()["max_reads"] == 3
    assert {call.headers["authorization"] for call in fake.asked} == {f"Bearer {TOKEN}"}
    assert fake.asked[-1].headers["if-none-match"] == '"exp_a-json"'


@pytest.mark.parametrize("failure", [DROP, problem("temporarily_unavailable", 503), Reply(b"", 502)])
def test_read_is_tried_again(fake, run, pauses, failure):
    fake.on("GET", "/api/v1/scope-catalog", failure, failure, Reply({"scope_entries": []}))

    assert run(lambda client: client.catalog()) == ()
    assert len(pauses) == 2


def test_write_is_never_repeated(fake, run):
    fake.on("POST", "/api/v1/request-consent", DROP)

    with pytest.raises(Unreachable, match="no connection"):
        run(lambda client: client.request_consent("usr_a", SCOPE, purpose="Suggest food", key=KEY))

    assert len(fake.asked) == 1


def test_answers_that_are_not_the_contracts(fake, run):
    fake.on("GET", "/api/v1/scope-catalog", Reply(b" " * (24 * 1024 * 1024)))
    fake.on("GET", "/api/v1/user-scopes/a", Reply(b"", 302, (("Location", fake.url),)))
    fake.on("GET", "/api/v1/user-scopes/b", problem("unknown_user", 404))
    fake.on("GET", "/api/v1/user-scopes/c", Reply(DISCOVERY, delay=MOST_SECONDS))

    async def large(client):
        return await client.catalog()

    with pytest.raises(BadAnswer, match="larger than"):
        run(large)
    with pytest.raises(BadAnswer, match="not followed"):
        run(lambda client: client.discover("a"))
    with pytest.raises(Problem, match="unknown_user"):
        run(lambda client: client.discover("b"))
    with pytest.raises(Unreachable, match="did not come in time"):
        run(lambda client: client.discover("c"), read_timeout=0.5)


def test_export_of_another_request_is_refused(fake, run):
    fake.on("GET", "/api/v1/consent-export", Reply(envelope(header={"request_id": "req_b"})))

    with pytest.raises(Refused) as caught:
        run(lambda client: client.read(build(AskedConsent, ASKED), KEY))
    assert caught.value.member == "request_id"
    with pytest.raises(KeyRefused):
        run(lambda client: client.read(build(AskedConsent, ASKED), generate_connector_key()))


def test_waiting_outlives_a_restart_and_ends_with_its_time(fake, run, pauses):
    away = [DROP] * 4 + [problem("temporarily_unavailable", 503)] * 4
    fake.on("GET", "/api/v1/consent-status", *away, Reply(APPROVED))
    assert run(lambda client: client.wait_for_decision("req_a", timeout=60)).status == "approved"

    fake.scripts.clear()
    fake.on("GET", "/api/v1/consent-status", Reply(PENDING))
    with pytest.raises(WaitTimeout):
        run(lambda client: client.wait_for_decision("req_a", timeout=0))


def test_waiting_for_ever_is_allowed_and_no_time_is_refused(fake, run):
    fake.on("GET", "/api/v1/consent-status", Reply(APPROVED))
    assert run(lambda client: client.wait_for_decision("req_a", timeout=math.inf)).status == "approved"

    with pytest.raises(Refused, match="no time to wait"):
        run(lambda client: client.wait_for_decision("req_a", timeout=math.nan))
    assert len(fake.asked) == 1


def test_events_go_on_after_they_broke_off(fake, run):
    path = "/api/v1/consent-events"
    fake.on("GET", path, Reply(b"id: 40\nretry: 100\n\n"), DROP, Reply(event(41)), Reply(event(41) + event(42)))

    async def take(client):
        events = client.events()
        seen = [(await anext(events)).id for _ in range(2)]
        await events.aclose()
        return seen

    assert run(take) == [41, 42]
    assert [asked.headers.get("last-event-id") for asked in fake.asked] == [None, "40", "40", "41"]


def test_slow_consumer_finds_its_stream_again(fake, run, monkeypatch):
    now = 0.0
    monkeypatch.setattr(streams, "Stream", partial(Stream, clock=lambda: now))
    fake.on("GET", "/api/v1/consent-events", Reply(b"retry: 100\n\n" + event(41)), DROP, Reply(event(42)))

    async def take(client):
        nonlocal now
        events = client.events(patience=4)
        first = (await anext(events)).id
        now = 4.1
        second = (await anext(events)).id
        await events.aclose()
        return first, second

    assert run(take) == (41, 42)


def test_proofs_are_verified(fake, run):
    fake.on("GET", "/.well-known/consent-keys.json", Reply(jwks()), Reply(jwks(OTHER_KEY, SIGNING_KEY)))
    fake.on("GET", "/api/v1/receipts/rct_a", Reply({"jws": signed()}), Reply({"jws": signed(key=OTHER_KEY)}))

    async def prove(client):
        return [(await client.receipt("rct_a")).claims for _ in range(2)]

    assert run(prove) == [CLAIMS, CLAIMS]
    assert all("authorization" not in call.headers for call in fake.asked if "well-known" in call.path)


def test_pages_are_followed(fake, run):
    pages = ({"requests": [APPROVED], "next_cursor": "c"}, {"requests": [PENDING], "next_cursor": None})
    fake.on("GET", "/api/v1/consent-requests", *(Reply(page) for page in pages))

    async def collect(client):
        return [status.status async for status in client.all_requests()]

    assert run(collect) == ["approved", "pending"]


def test_people_are_found(fake, run):
    fake.on("GET", "/api/v1/people", Reply({"people": [], "next_cursor": None}))

    assert run(lambda client: client.people("zo")).people == ()
    assert fake.asked[0].query == {"query": "zo"}
