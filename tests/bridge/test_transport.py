"""What every call keeps to: bounds, retries, redirects, errors and the token."""

import copy
import hashlib
import math
import pickle

import pytest

from consent_bridge.approvals import OwnerKeyChanged
from consent_bridge.client import Client
from consent_bridge.errors import BadAnswer, FieldError, Problem, Refused, Unreachable
from consent_bridge.results import Discovery, build
from consent_bridge.transport import rest_base_url
from tests.bridge.fake_service import DROP, Reply, problem
from tests.bridge.refusals import refused_for
from tests.bridge.wire import DISCOVERY, KEY, MADE_REQUEST, PENDING, SCOPE, TOKEN
from tests.fakes.agents import agent, resets, self_signed
from tests.patience import MOST_SECONDS


def test_problem_carries_what_the_service_said(fake, client):
    errors = [{"field": "scope", "code": "too_long", "message": "at most 200\ncharacters"}]
    fake.on(
        "POST",
        "/api/v1/request-consent",
        problem(
            "invalid_request",
            400,
            detail="One field does not fit.",
            trace_id="tr_1",
            errors=errors,
            headers=[("Retry-After", "60")],
        ),
    )

    with pytest.raises(Problem) as caught:
        client.request_consent("usr_a", SCOPE, purpose="Suggest food", key=KEY)

    error = caught.value
    assert (error.code, error.status, error.detail, error.trace_id, error.retry_after) == (
        "invalid_request",
        400,
        "One field does not fit.",
        "tr_1",
        60.0,
    )
    assert error.errors == (FieldError("scope", "too_long", "at most 200 characters"),)
    assert str(error) == "invalid_request (400): One field does not fit.: scope: at most 200 characters"


@pytest.mark.parametrize(
    "error",
    [
        Problem("grant_paused", 409, "Later.", errors=(FieldError("a", "b", "c"),), extra={"a": 1}, retry_after=2.0),
        OwnerKeyChanged("another key", key={"kty": "OKP"}, reset=True),
        Unreachable("no connection"),
    ],
)
def test_an_error_goes_to_another_process_whole(error):
    for same in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (type(same), str(same), vars(same)) == (type(error), str(error), vars(error))


@pytest.mark.parametrize("body", [b"", b"<html>Bad gateway</html>", b"[]", b"\xff", b'{"code": 7}', b"[" * 100_000])
def test_error_that_is_no_problem_body_is_a_problem_all_the_same(fake, client, body):
    fake.on("GET", "/api/v1/scope-catalog", Reply(body, 418, (("X-Request-Id", "tr_2"),)))

    with pytest.raises(Problem) as caught:
        client.catalog()

    assert (caught.value.code, caught.value.status, caught.value.trace_id) == ("unexpected_answer", 418, "tr_2")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not JSON"),
        (b"null", "not a JSON object"),
        ({}, "has no available_domains"),
        ({**DISCOVERY, "user_id": 7}, "user_id is not str"),
        ({**DISCOVERY, "scopes": "attr.a.*"}, "scopes is not a list"),
        ({**DISCOVERY, "runtime": []}, "runtime is not an object"),
        ({**DISCOVERY, "runtime": {**DISCOVERY["runtime"], "can_approve": 1}}, "can_approve is not bool"),
        ({**DISCOVERY, "runtime": {**DISCOVERY["runtime"], "interval": True}}, "interval is not int"),
    ],
)
def test_answer_that_is_not_the_contracts_is_a_bad_answer(fake, client, body, reason):
    fake.on("GET", "/api/v1/user-scopes/usr_a", Reply(body))

    with pytest.raises(BadAnswer, match=reason):
        client.discover("usr_a")


def test_answer_may_have_members_that_came_later(fake, client):
    fake.on("GET", "/api/v1/user-scopes/usr_a", Reply({**DISCOVERY, "color": "red"}))

    assert client.discover("usr_a") == build(Discovery, DISCOVERY)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_is_not_followed(fake, client, status):
    fake.on("GET", "/api/v1/scope-catalog", Reply(b"", status, (("Location", f"{fake.url}/elsewhere"),)))

    with pytest.raises(BadAnswer, match="not followed"):
        client.catalog()

    assert len(fake.received) == 1


@pytest.mark.parametrize("failure", [DROP, problem("temporarily_unavailable", 503), Reply(b"", 502), Reply(b"", 504)])
def test_read_is_tried_again(fake, client, pauses, failure):
    fake.on("GET", "/api/v1/scope-catalog", failure, failure, Reply({"scope_entries": []}))

    assert client.catalog() == ()
    assert len(fake.received) == 3
    assert len(pauses) == 2
    assert 0.1 <= pauses[0] <= 0.3
    assert 0.2 <= pauses[1] <= 0.6


def test_read_is_tried_three_times_at_most(fake, client):
    fake.on("GET", "/api/v1/scope-catalog", DROP)

    with pytest.raises(Unreachable, match="no connection"):
        client.catalog()

    assert len(fake.received) == 3


@pytest.mark.parametrize(
    ("seconds", "calls", "waited"), [("2", 2, [2.0]), ("3600", 1, []), ("-1", 2, None), ("soon", 2, None)]
)
def test_retry_after_is_kept_to_where_it_is_short(fake, client, pauses, seconds, calls, waited):
    busy = problem("temporarily_unavailable", 503, headers=[("Retry-After", seconds)])
    fake.on("GET", "/api/v1/scope-catalog", busy, Reply({"scope_entries": []}))

    if calls == 1:
        with pytest.raises(Problem):
            client.catalog()
    else:
        client.catalog()

    assert len(fake.received) == calls
    assert waited is None or pauses == waited


@pytest.mark.parametrize("code", [400, 401, 403, 404, 409, 410, 429, 500])
def test_answer_that_stays_the_same_is_not_asked_for_again(fake, client, code):
    fake.on("GET", "/api/v1/scope-catalog", problem("some_code", code))

    with pytest.raises(Problem):
        client.catalog()

    assert len(fake.received) == 1


LATE = Reply(MADE_REQUEST, 201, delay=MOST_SECONDS)


@pytest.mark.parametrize("failure", [DROP, problem("temporarily_unavailable", 503), LATE])
def test_write_is_never_repeated(fake, hasty_client, failure):
    fake.on("POST", "/api/v1/request-consent", failure)

    with pytest.raises((Unreachable, Problem)):
        hasty_client.request_consent("usr_a", SCOPE, purpose="Suggest food", key=KEY)

    assert len(fake.received) == 1


def test_write_that_says_the_same_when_repeated_is_tried_again(fake, client):
    fake.on("POST", "/api/v1/request-consent", DROP, Reply(MADE_REQUEST, 201))
    fake.on("POST", "/api/v1/end-consent", DROP, Reply({**PENDING, "status": "cancelled"}))

    made_request = client.request_consent("usr_a", SCOPE, purpose="Suggest food", key=KEY, idempotency_key="once")
    ended = client.end("req_a")

    assert (made_request.request_id, ended.status) == ("req_a", "cancelled")
    assert [call.headers.get("idempotency-key") for call in fake.received] == ["once", "once", None, None]


@pytest.mark.parametrize(
    ("key", "sent"), [("order 7", "order 7"), ("注文", hashlib.sha256("注文".encode()).hexdigest())]
)
def test_an_idempotency_key_is_any_text(fake, client, key, sent):
    fake.on("POST", "/api/v1/request-consent", Reply(MADE_REQUEST, 201))

    client.request_consent("usr_a", SCOPE, purpose="Suggest food", key=KEY, idempotency_key=key)

    assert fake.received[0].headers["idempotency-key"] == sent


UNFIT = {
    "a line's end": ("idempotency_key", {"idempotency_key": "order\n7"}),
    "a space after it": ("idempotency_key", {"idempotency_key": "order "}),
    "too long": ("idempotency_key", {"idempotency_key": "7" * 129}),
    "no UTF-8": ("idempotency_key", {"idempotency_key": "order\udcff"}),
    "no number": (None, {"access_duration": math.nan, "idempotency_key": "order"}),
    "no JSON": (None, {"access_duration": {7}, "idempotency_key": "order"}),
}


@pytest.mark.parametrize(("member", "given"), UNFIT.values(), ids=UNFIT)
def test_what_cannot_be_sent_is_refused_and_not_tried_again(fake, client, pauses, member, given):
    with refused_for(member):
        client.request_consent("usr_a", SCOPE, purpose="Suggest food", key=KEY, **given)

    assert (fake.received, pauses) == ([], [])


@pytest.mark.parametrize(("call", "given"), [("discover", "usr_\ud800"), ("people", "\udfff"), ("receipt", "\ud800")])
def test_a_name_that_no_address_can_hold_is_refused(fake, client, call, given):
    with refused_for(None):
        getattr(client, call)(given)

    assert fake.received == []


def test_a_certificate_that_nobody_vouches_for_is_named_as_the_reason(fake, make_client, tmp_path):
    with agent(resets, certificate=self_signed(tmp_path, "127.0.0.1")) as stranger:
        fake.url = stranger.url
        with make_client() as client, pytest.raises(Unreachable, match="the server's certificate was not accepted"):
            client.catalog()


def test_answer_that_takes_too_long_is_given_up(fake, hasty_client):
    fake.on("POST", "/api/v1/request-consent", LATE)

    with pytest.raises(Unreachable, match="did not come in time"):
        hasty_client.request_consent("usr_a", SCOPE, purpose="Suggest food", key=KEY)


def test_answer_that_is_too_large_is_given_up(fake, client):
    fake.on("GET", "/api/v1/scope-catalog", Reply(b" " * (24 * 1024 * 1024)))

    with pytest.raises(BadAnswer, match="larger than"):
        client.catalog()


def test_netrc_does_not_replace_the_token(fake, tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    fake.on("GET", "/api/v1/scope-catalog", Reply({"scope_entries": []}))

    with Client(f"{fake.url}/api/v1", TOKEN) as client:
        client.catalog()

    assert fake.received[0].headers["authorization"] == f"Bearer {TOKEN}"


def test_token_is_in_no_error_text(fake, client):
    fake.on("GET", "/api/v1/scope-catalog", DROP)

    with pytest.raises(Unreachable) as caught:
        client.catalog()

    assert TOKEN not in str(caught.value)
    assert TOKEN not in repr(caught.value)


@pytest.mark.parametrize("token", ["", "a b", "a\r\nX-Injected: 1", "tökèn"])
def test_token_that_no_header_can_carry_is_refused(token):
    with pytest.raises(Refused, match="developer token"):
        Client("http://127.0.0.1:9/api/v1", token)


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1", "ftp://127.0.0.1", "http://", "http://a:99999", "http://u:p@a/", "http://a/?q"]
)
def test_base_address_that_is_none_is_refused(url):
    with pytest.raises(Refused, match="base address"):
        Client(url, TOKEN)


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ("http://localhost:8000", "http://localhost:8000/api/v1"),
        ("http://localhost:8000/", "http://localhost:8000/api/v1"),
        ("https://consent.example/api/v1/", "https://consent.example/api/v1"),
        ("https://example.org/consent/api/v1", "https://example.org/consent/api/v1"),
    ],
)
def test_an_origin_alone_means_its_rest_base(given: str, base: str) -> None:
    assert rest_base_url(given) == base
