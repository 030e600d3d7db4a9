"""The developers' REST: what every operation refuses alike, and what each answers where it has something to answer."""

from datetime import timedelta
from typing import Any

from django.test import override_settings
from django.utils import timezone

from tests import factories
from tests.corpus.stage import NOBODY, Caller, Stage

V1 = "/api/v1"
OPERATIONS = [
    ("GET", "/user-scopes/usr_unknown", "discover"),
    ("GET", "/scope-catalog", "discover"),
    ("GET", "/people", "discover"),
    ("POST", "/request-consent", "request"),
    ("GET", "/consent-status?request_id=req_unknown", "request"),
    ("POST", "/end-consent", "request"),
    ("GET", "/consent-requests", "request"),
    ("GET", "/consent-events", "request"),
    ("GET", "/consent-export?request_id=req_unknown", "read"),
    ("GET", "/receipts/rct_unknown", "read"),
]
_OTHER = {"discover": "request", "request": "discover", "read": "discover"}
_UNFIT: dict[str, bytes] = {
    "an empty body": b"",
    "no JSON": b"{",
    "an array": b"[]",
    "a member twice": b'{"request_id": "a", "request_id": "b"}',
    "no UTF-8": b'{"request_id": "\xff"}',
    "NUL": b'{"request_id": "\\u0000"}',
    "NaN": b'{"request_id": NaN}',
    "too deep": b"[" * 40 + b"]" * 40,
    "an unknown member": b'{"bogus": 1}',
    "a wrong type": b'{"request_id": 1}',
}


def play(stage: Stage) -> None:
    app = factories.AppFactory()
    every = _token("every permission", app)
    _admission(stage, app, every)
    _bodies(stage, every)
    _discovery(stage, app, every)
    _directory(stage, app, every)
    _statuses(stage, app, every)
    _exports(stage, app, every)
    _lists(stage, app, every)
    _receipts(stage)


def _token(name: str, app: Any, **fields: Any) -> Caller:
    return Caller.with_token(name, factories.TokenFactory(app=app, **fields).secret)


def _admission(stage: Stage, app: Any, every: Caller) -> None:
    """The checks that come before an operation's own."""
    ago = timezone.now() - timedelta(minutes=1)
    suspended = _token("suspended app", factories.AppFactory(status="suspended"))
    strangers = [
        NOBODY,
        Caller.with_token("no token of ours", "cr_live_unknown"),
        Caller("no bearer", {"Authorization": "Basic Zm9vOmJhcg=="}),
        _token("revoked token", app, revoked_at=ago),
        _token("expired token", app, created_at=ago, expires_at=ago),
    ]
    in_header = factories.TokenFactory(app=app, header_only=True).secret
    for method, path, permission in OPERATIONS:
        at, and_ = V1 + path, "&" if "?" in path else "?"
        body: Any = {"request_id": "req_unknown"} if method == "POST" else None
        for other in ("PUT", "DELETE", "OPTIONS", "POST" if method == "GET" else "GET"):
            stage.call("another method", every, other, at)
        for caller in strangers:
            stage.call("let in by nothing", caller, method, at, body)
        stage.call("suspended", suspended, method, at, body)
        lacking = _token("another permission", app, permissions=[_OTHER[permission]])
        stage.call("lacks the permission", lacking, method, at, body)
        stage.call("from a web page", every, method, at, body, headers={"Origin": "https://trips.example"})
        stage.call("an unknown member of the query", every, method, f"{at}{and_}bogus=1", body)
        stage.call("a control character in the query", every, method, f"{at}{and_}request%00=1", body)
        stage.call("the token twice", every, method, f"{at}{and_}token=x", body)
        stage.call("a header-only token in the query", Caller("nobody"), method, f"{at}{and_}token={in_header}", body)
    in_query = factories.TokenFactory(app=app).secret
    stage.call("the token in the query", Caller("query"), "GET", f"{V1}/scope-catalog?token={in_query}")


def _bodies(stage: Stage, every: Caller) -> None:
    for path in (f"{V1}/request-consent", f"{V1}/end-consent"):
        for what, raw in _UNFIT.items():
            stage.call(what, every, "POST", path, raw=raw)
        stage.call("another media type", every, "POST", path, raw=b"a=1", media="application/x-www-form-urlencoded")
        stage.call("another character set", every, "POST", path, raw=b"{}", media="application/json; charset=latin-1")
        stage.call("compressed", every, "POST", path, raw=b"{}", headers={"Content-Encoding": "gzip"})
        stage.call("too large", every, "POST", path, raw=b'{"request_id": "%b"}' % (b"x" * 66_000))


def _discovery(stage: Stage, app: Any, every: Caller) -> None:
    vault = factories.give_vault(factories.PersonFactory())
    bare = factories.PersonFactory()
    stage.call("the catalog", every, "GET", f"{V1}/scope-catalog")
    stage.call("somebody with a vault", every, "GET", f"{V1}/user-scopes/{vault.user.public_id}")
    stage.call("somebody without a vault", every, "GET", f"{V1}/user-scopes/{bare.public_id}")
    stage.call("no form of ours", every, "GET", f"{V1}/user-scopes/no%20body")
    for number in range(3):
        hinted = {"X-Client-Hint": f"visitor-{number}"}
        stage.call(f"unknown, with hint {number}", every, "GET", f"{V1}/user-scopes/usr_unknown", headers=hinted)
    too_long = {"X-Client-Hint": "x" * 129}
    stage.call("a hint that is too long", every, "GET", f"{V1}/user-scopes/usr_unknown", headers=too_long)
    guessing = factories.AppFactory()
    factories.DiscoveryMissFactory(app=guessing, count=1000)
    stage.call("guessed too often", _token("guesser", guessing), "GET", f"{V1}/user-scopes/{vault.user.public_id}")


def _directory(stage: Stage, app: Any, every: Caller) -> None:
    at = f"{V1}/people"
    for handle, name in (("anna", "Zoe"), ("zoe-q", "Quinn"), ("zoe-r", "")):
        factories.ListedPersonFactory(handle=handle, display_name=name)
    factories.PublicProfileFactory(handle="zoe-hidden", is_discoverable=True)
    blocking = factories.ListedPersonFactory(handle="zoe-blocks").user
    factories.BlockedAppFactory(app=app, user=blocking)
    stage.call("everybody who is listed", every, "GET", at)
    first = stage.call("the first two", every, "GET", f"{at}?query=ZOE&limit=2")
    stage.call("the next", every, "GET", f"{at}?query=ZOE&limit=2&cursor={first.json()['next_cursor']}")
    stage.call("nobody", every, "GET", f"{at}?query=nobody")
    for query in ("query=", "query=%20", f"query={'z' * 101}", "limit=0", "limit=101", "cursor=!", "query=a&query=b"):
        stage.call("does not fit", every, "GET", f"{at}?{query}")
    test_app = factories.TestAppFactory()
    factories.ListedPersonFactory(handle="played", user=factories.SandboxPersonFactory(app=test_app).user)
    stage.call("of a test app", _token("test app", test_app), "GET", at)
    with override_settings(PEOPLE_SEARCHES_PER_HOUR=1):
        hasty = _token("hasty app", factories.AppFactory())
        for number in range(2):
            stage.call(f"searched, {number}", hasty, "GET", at)


def _statuses(stage: Stage, app: Any, every: Caller) -> None:
    at = f"{V1}/consent-status"
    person = factories.PersonFactory()
    for status in ("pending", "denied", "cancelled", "expired"):
        asked = factories.ConsentRequestFactory(app=app, user=person, status=status)
        stage.call(status, every, "GET", f"{at}?request_id={asked.request_id}")
    late = factories.ConsentRequestFactory(
        app=app, created_at=timezone.now().replace(microsecond=0) - timedelta(days=2)
    )
    stage.call("waited too long", every, "GET", f"{at}?request_id={late.request_id}")
    for status in ("active", "paused", "revoked", "expired"):
        grant = factories.GrantFactory(request__app=app, status=status)
        stage.call(f"grant {status}", every, "GET", f"{at}?request_id={grant.request.request_id}")
        stage.call(f"grant {status}, waited for", every, "GET", f"{at}?request_id={grant.request.request_id}&wait=5")
    named = factories.ConsentRequestFactory(app=app)
    stage.call("by person and scope", every, "GET", f"{at}?user_id={named.user.public_id}&scope={named.scope}")
    stage.call("person and scope unknown", every, "GET", f"{at}?user_id={named.user.public_id}&scope=attr.identity.*")
    other = factories.ConsentRequestFactory()
    stage.call("another app's", every, "GET", f"{at}?request_id={other.request_id}")
    unfit = (
        "",
        "request_id=a&user_id=b",
        "user_id=b",
        "request_id=a&wait=31",
        "request_id=a&wait=x",
        "request_id=a&request_id=b",
    )
    for query in unfit:
        stage.call("does not fit", every, "GET", f"{at}?{query}")
    polled = factories.ConsentRequestFactory(app=app)
    with override_settings(STATUS_POLL_BURST=2, STATUS_POLL_PER_SECOND=0.25):
        for number in range(4):
            stage.call(f"polled, {number}", every, "GET", f"{at}?request_id={polled.request_id}")


def _exports(stage: Stage, app: Any, every: Caller) -> None:
    at = f"{V1}/consent-export"
    export = factories.ExportFactory(grant__request__app=app, grant__request__max_reads=5)
    path = f"{at}?request_id={export.grant.request.request_id}"
    tag = stage.call("read", every, "GET", path).header("ETag")
    stage.call("read as JOSE", every, "GET", path, headers={"Accept": "application/jose"})
    stage.call("held already", every, "GET", path, headers={"If-None-Match": tag})
    stage.call("another is held", every, "GET", path, headers={"If-None-Match": '"other"'})
    key = {"Idempotency-Key": "read-once"}
    stage.call("read under a key", every, "GET", path, headers=key)
    stage.call("read again under the key", every, "GET", path, headers=key)
    stage.call("the last read", every, "GET", path)
    stage.call("one read too many", every, "GET", path)
    stage.call("a key that is none", every, "GET", path, headers={"Idempotency-Key": " "})
    stage.call("no request", every, "GET", at)
    for status in ("pending", "denied", "cancelled", "expired"):
        asked = factories.ConsentRequestFactory(app=app, status=status)
        stage.call(f"request {status}", every, "GET", f"{at}?request_id={asked.request_id}")
    for status in ("paused", "revoked", "expired"):
        ended = factories.ExportFactory(grant__request__app=app, grant__status=status).grant
        stage.call(f"grant {status}", every, "GET", f"{at}?request_id={ended.request.request_id}")
    other = factories.ExportFactory(grant__request__app=app).grant.request.request_id
    stage.call("the key of another read", every, "GET", f"{at}?request_id={other}", headers=key)
    others = factories.ExportFactory().grant.request.request_id
    stage.call("another app's", every, "GET", f"{at}?request_id={others}")


def _lists(stage: Stage, app: Any, every: Caller) -> None:
    at = f"{V1}/consent-requests"
    first = stage.call("the first two", every, "GET", f"{at}?limit=2")
    stage.call("the next two", every, "GET", f"{at}?limit=2&cursor={first.json()['next_cursor']}")
    for status in ("pending", "approved", "denied", "cancelled", "expired"):
        stage.call(status, every, "GET", f"{at}?status={status}")
    stage.call("all", every, "GET", at)
    for query in ("limit=0", "limit=101", "limit=x", "status=bogus", "cursor=req_unknown", "cursor=!"):
        stage.call("does not fit", every, "GET", f"{at}?{query}")
    stage.call("of an app that never asked", _token("new app", factories.AppFactory()), "GET", at)


def _receipts(stage: Stage) -> None:
    """And the events: of an app that has two."""
    app = factories.AppFactory()
    every = _token("told app", app)
    receipt = factories.ReceiptFactory(request__app=app)
    stage.call("a receipt", every, "GET", f"{V1}/receipts/{receipt.receipt_id}")
    jose = {"Accept": "application/jose"}
    stage.call("a receipt as JOSE", every, "GET", f"{V1}/receipts/{receipt.receipt_id}", headers=jose)
    others = factories.ReceiptFactory().receipt_id
    stage.call("another app's", every, "GET", f"{V1}/receipts/{others}")
    stage.call("no form of ours", every, "GET", f"{V1}/receipts/no%20receipt")
    for sequence in (1, 2):
        factories.NoticeFactory(request=receipt.request, sequence=sequence)
    at = f"{V1}/consent-events"
    stage.call("from now on", every, "GET", at, chunks=1)
    stage.call("from the beginning", every, "GET", at, headers={"Last-Event-ID": "0"}, chunks=3)
    stage.call("after the first", every, "GET", at, headers={"Last-Event-ID": "1"}, chunks=2)
    for last in ("3", "x", "-1"):
        stage.call(f"the event {last}, which never was", every, "GET", at, headers={"Last-Event-ID": last})
    with override_settings(STATUS_WAITERS_PER_APP=0):
        stage.call("too many streams", every, "GET", at)
