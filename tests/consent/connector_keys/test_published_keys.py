"""The keys that an app publishes under its proved domain: how they are fetched, and what counts of them."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import ThreadingHTTPServer
from typing import Any

import pytest
from django.db import connection as database

import pkm.sealed
from common import addresses, encryption
from common.clock import database_now
from common.outbound.client import Client
from common.shutdown import shutdown
from consent import tasks
from consent.connections.actions import connect
from consent.connections.models import Connection
from consent.connector_keys.models import PublishedKeys
from consent.requests import published_keys
from consent.requests.models import ConsentRequest
from consent.requests.vouching import vouching_of
from consent_bridge import sealed
from developers.models import App
from tests.callers import Developer
from tests.consent.connector_keys.test_registering import asking, jwk
from tests.factories import (
    AppFactory,
    ConsentRequestFactory,
    PersonFactory,
    PublishedKeysFactory,
    TestAppFactory,
    give_vault,
    known_as,
)  # fmt: skip
from tests.fakes.serving import Answering, serving
from tests.patience import MOST_SECONDS, eventually

pytestmark = pytest.mark.django_db(transaction=True)  # threads fetch, with connections of their own
DOMAIN = "trips.example"


@dataclass
class Site:
    """How the app's website answers, once `answers` is set; `paths` are those asked for."""

    body: bytes = b'{"keys": []}'
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    answers: threading.Event = field(default_factory=threading.Event)

    def publishes(self, *keys: Any) -> None:
        self.body = json.dumps({"keys": list(keys)}).encode()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Every domain leads here; only where it is is changed, not how it is asked."""
    made = Site()
    made.answers.set()

    class Handler(Answering):
        def get(self) -> None:
            made.paths.append(self.path)
            made.answers.wait(MOST_SECONDS)
            self.answer(made.status, made.body, made.headers)

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as address:
        monkeypatch.setattr(published_keys, "_client", Client(may_reach=addresses.is_host))
        monkeypatch.setattr(published_keys, "_address", lambda domain: f"{address}{published_keys.WELL_KNOWN_PATH}")
        yield made
        made.answers.set()


@pytest.fixture
def proved() -> App:
    """A live app that proved its domain."""
    return proved_app()


def proved_app(domain: str = DOMAIN) -> App:
    app: App = AppFactory(proved_domain=domain, domain_proved_at=database_now())
    return app


def waiting(app: App, **given: Any) -> ConsentRequest:
    """A request of this app, for which a fetch is due."""
    request: ConsentRequest = ConsentRequestFactory(app=app, **given)
    PublishedKeysFactory(request=request, due_at=database_now() - timedelta(seconds=1))
    return request


def who(request: ConsentRequest) -> str:
    return vouching_of(ConsentRequest.objects.select_related("app", "user").get(pk=request.pk)).by


def test_a_request_of_an_app_with_a_domain_is_looked_up_after_the_commit(site: Site, proved: App) -> None:
    person, key = PersonFactory(), jwk()
    give_vault(person)
    site.publishes({**key, "kid": "key-1", "use": "enc"})

    answer = Developer.of(proved).post("/request-consent", asking(known_as(proved, person), key))

    request = ConsentRequest.objects.get(request_id=answer.json()["request_id"])
    assert site.paths == ["/.well-known/consent-connector-keys.json"]
    kept = vouching_of(request)
    assert (kept.by, kept.domain, kept.since) == ("published", DOMAIN, None)
    assert who(request) == "published"
    assert site.paths == ["/.well-known/consent-connector-keys.json"]  # nobody asks because somebody looks


def test_the_key_of_what_rides_along_is_looked_up_before_the_answers_transaction(
    site: Site, proved: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However slow the app's site is, it holds no row of the person's, and no connection to the database."""
    person, key = PersonFactory(), jwk()
    give_vault(person, {("lifestyle", "food"): {"favorite_cuisine": "Thai"}})
    site.publishes({**key, "kid": "key-1"})
    body = asking("", key)
    riding = {name: body[name] for name in ("scope", "purpose", "connector_wrapping_alg")} | {
        "connector_key_id": "key-1"
    }
    made = Developer.of(proved).post("/connections", {"request": riding}).json()
    connection, inside = Connection.objects.get(connection_id=made["connection_id"]), list[bool]()
    fetched = published_keys._fetch_listed

    def noted(domain: str) -> list[Any] | None:
        inside.append(database.in_atomic_block)
        return fetched(domain)

    monkeypatch.setattr(published_keys, "_fetch_listed", noted)
    connect(connection=connection, by=person)

    assert ConsentRequest.objects.get(user=person).connector_thumbprint == pkm.sealed.thumbprint(key)
    assert inside[0] is False
    assert not any(inside)


@pytest.mark.parametrize("make", [AppFactory, TestAppFactory], ids=["without a domain", "test app"])
def test_others_are_not_looked_up(site: Site, make: Any) -> None:
    app, person = make(), PersonFactory()
    give_vault(person)

    Developer.of(app).post("/request-consent", asking(person.public_id, jwk()))

    assert (site.paths, PublishedKeys.objects.count()) == ([], 0)


def other_kind(site: Site, key: dict[str, str]) -> None:
    site.publishes({"kty": "RSA", "n": "AQAB", "e": "AQAB"}, "text", None, key)


def test_a_set_may_hold_keys_of_other_kinds(site: Site, proved: App) -> None:
    request = waiting(proved)
    other_kind(site, request.connector_public_key)
    published_keys.fetch_due()
    assert who(request) == "published"


def _redirects(site: Site, request: Any) -> None:
    site.publishes(request.connector_public_key)
    site.status, site.headers = 302, {"Location": "/elsewhere"}


def _is_large(site: Site, request: Any) -> None:
    site.body = b'{"keys": [], "x": "' + b"x" * 10_000_000 + b'"}'


def _is_private(site: Site, request: Any) -> None:
    site.publishes(request.connector)  # with its private half, which everybody has now


def _serves(body: bytes) -> Any:
    def answer(site: Site, request: Any) -> None:
        site.body = body

    return answer


def _many(site: Site, request: Any) -> None:
    site.publishes(request.connector_public_key, *[{}] * 100)


def _another(site: Site, request: Any) -> None:
    site.publishes(jwk())


@pytest.mark.parametrize(
    "does",
    [
        _redirects, _is_large, _is_private, _many, _another, _serves(b""), _serves(b"[]"), _serves(b'{"keys": {}}'),
        _serves(b"[" * 100_000), _serves(b'{"keys": [], "keys": []}'),
    ],
    ids=[
        "redirect", "10 MB", "private members", "101 keys", "another key", "nothing", "a list", "no list", "deep",
        "twice",
    ],
)  # fmt: skip
def test_nobody_vouches_by(does: Any, site: Site, proved: App) -> None:
    request = waiting(proved)
    does(site, request)

    assert published_keys.fetch_due() == 1

    assert site.paths == ["/.well-known/consent-connector-keys.json"]
    assert who(request) == "nobody"


def test_a_site_that_hangs_is_left(site: Site, proved: App, monkeypatch: pytest.MonkeyPatch) -> None:
    request = waiting(proved)
    site.publishes(request.connector_public_key)
    site.answers.clear()
    monkeypatch.setattr(published_keys, "_SECONDS", 0.2)

    published_keys.fetch_due()

    assert (who(request), PublishedKeys.objects.get().failures) == ("nobody", 1)


def test_a_private_address_is_not_connected_to(site: Site, proved: App, monkeypatch: pytest.MonkeyPatch) -> None:
    request = waiting(proved)
    monkeypatch.setattr(published_keys, "_client", Client(may_reach=addresses.is_public))

    published_keys.fetch_due()

    assert (site.paths, who(request)) == ([], "nobody")


def test_failures_are_tried_again_ever_later(site: Site, proved: App) -> None:
    waiting(proved)
    site.status = 500
    pauses = []
    for _ in range(4):
        PublishedKeys.objects.update(due_at=database_now() - timedelta(seconds=1))
        published_keys.fetch_due()
        pauses.append((PublishedKeys.objects.get().due_at - database_now()).total_seconds())

    assert [round(pause / 60 / 2**number) for number, pause in enumerate(pauses)] == [1, 1, 1, 1]
    assert not published_keys.is_due()
    PublishedKeys.objects.update(failures=1000, due_at=database_now() - timedelta(seconds=1))
    published_keys.fetch_due()
    assert PublishedKeys.objects.get().due_at < database_now() + timedelta(hours=8)


def test_a_failure_leaves_the_last_set_for_as_long_as_it_counts(site: Site, proved: App) -> None:
    request = waiting(proved)
    site.publishes(request.connector_public_key)
    published_keys.fetch_due()
    site.status = 500
    PublishedKeys.objects.update(due_at=database_now() - timedelta(seconds=1))
    published_keys.fetch_due()

    assert (PublishedKeys.objects.get().failures, who(request)) == (1, "published")


def test_one_fetch_is_for_all_requests_of_an_app(site: Site, proved: App) -> None:
    requests = [waiting(proved) for _ in range(5)]
    site.publishes(*[request.connector_public_key for request in requests])

    assert published_keys.fetch_due() == 1

    assert len(site.paths) == 1
    assert {who(request) for request in requests} == {"published"}
    assert (published_keys.is_due(), published_keys.fetch_due()) == (False, 0)


@pytest.mark.parametrize("end", ["denied", "overdue", "suspended", "domain lost"])
def test_nothing_is_fetched_for_what_waits_no_more(end: str, site: Site, proved: App) -> None:
    request = waiting(proved)
    if end == "denied":
        ConsentRequest.objects.update(status="denied", decided_at=database_now(), decided_by="person")
    elif end == "overdue":
        request.delete()
        early = database_now() - timedelta(days=2)
        waiting(proved, created_at=early, expires_at=early + timedelta(days=1))
    elif end == "suspended":
        App.objects.update(status="suspended")
    else:
        App.objects.update(proved_domain="", domain_proved_at=None)

    assert (published_keys.is_due(), published_keys.fetch_due(), site.paths) == (False, 0, [])
    assert published_keys.forget_decided() == (end in ("denied", "overdue"))


def test_sites_that_hang_hold_no_more_of_a_worker_than_its_places(
    site: Site, proved: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    runs: list[int] = []

    def hangs() -> int:
        runs.append(1)
        release.wait(MOST_SECONDS)
        return 1

    monkeypatch.setattr(published_keys, "fetch_due", hangs)
    found: list[int] = []
    workers = [threading.Thread(target=lambda: found.append(tasks.fetch_published_keys())) for _ in range(6)]
    for worker in workers:
        worker.start()
    eventually(lambda: len(runs) == 2 and len(found) == 4, "two that fetch, and four that were turned away")
    assert (len(runs), found) == (2, [0] * 4)
    release.set()
    for worker in workers:
        worker.join()
    monkeypatch.undo()

    assert (sorted(found), tasks.fetch_published_keys()) == ([0, 0, 0, 0, 1, 1], 0)
    assert len(runs) == 2


def test_a_worker_that_shuts_down_begins_no_fetch(site: Site, proved: App, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting(proved)
    monkeypatch.setattr(shutdown, "has_begun", lambda: True)

    assert (published_keys.fetch_due(), site.paths) == (0, [])


# --- whoever writes the database --------------------------------------------------------------------------------------


def token(request: ConsentRequest, **changes: Any) -> str:
    """What this server would keep of a fetch just now; `changes` as from another one."""
    given: dict[str, Any] = {
        "app_id": request.app.app_id,
        "domain": DOMAIN,
        "request_id": request.request_id,
        "fetched_at": database_now(),
        "keys": [request.connector_public_key],
    }
    return published_keys.seal_fetched_keys(**given | changes)


def put(request: ConsentRequest, text: str) -> None:
    PublishedKeys.objects.update_or_create(request=request, defaults={"token": text, "due_at": database_now()})


def test_a_token_of_its_own_fetch_counts(proved: App) -> None:
    request = ConsentRequestFactory(app=proved)
    put(request, token(request))
    assert who(request) == "published"


@pytest.mark.parametrize("what", ["request_id", "app_id", "domain"])
def test_a_token_of_another_counts_for_nothing(what: str, proved: App) -> None:
    request = ConsentRequestFactory(app=proved)
    other = ConsentRequestFactory(app=proved_app("thief.example"))
    values = {"request_id": other.request_id, "app_id": other.app.app_id, "domain": "thief.example"}
    put(request, token(request, **{what: values[what]}))
    assert who(request) == "nobody"


def test_an_older_token_counts_for_nothing(proved: App) -> None:
    made = database_now() - timedelta(days=3)
    request = ConsentRequestFactory(app=proved, created_at=made, expires_at=made + timedelta(days=9))
    put(request, token(request, fetched_at=database_now() - timedelta(hours=25)))
    assert who(request) == "nobody"
    put(request, token(request, fetched_at=database_now() - timedelta(hours=23)))
    assert who(request) == "published"

    fresh = ConsentRequestFactory(app=proved)
    put(fresh, token(fresh, fetched_at=fresh.created_at - timedelta(seconds=1)))
    assert who(fresh) == "nobody"


def test_a_text_that_is_sealed_here_for_another_reason_counts_for_nothing(proved: App) -> None:
    """An analysis' input is whatever somebody types, under the same key of the server."""
    request = ConsentRequestFactory(app=proved)
    claims = encryption.opened(token(request), purpose="published connector keys")
    put(request, encryption.sealed(claims))
    assert who(request) == "nobody"
    put(request, "not even a token")
    assert who(request) == "nobody"


def test_a_domain_that_was_lost_vouches_for_nothing(proved: App) -> None:
    request = ConsentRequestFactory(app=proved)
    put(request, token(request))
    App.objects.update(proved_domain="", domain_proved_at=None)
    assert who(request) == "nobody"
    assert sealed.thumbprint(request.connector_public_key) == request.connector_thumbprint
    assert database.is_usable()
