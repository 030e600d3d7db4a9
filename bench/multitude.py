"""A database of very many people by COPY: what the growth of everything else is measured in.

Each person keeps a profile and a vault, was asked four times and allowed two of it, was read, looked at and told of,
as somebody is who has used the service for some weeks. One of them has a long history. Rows are numbered, so that any
of them can be named without looking. Foreign keys and triggers are off while rows are copied: it takes a superuser.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from django.db import connection
from django.db.models import Model

from accounts.models import User
from agents_proxy.models import ProcessingConsent, Run
from bench.copying import Row, copy, number_on, without_triggers
from consent.discovery.models import Discovery
from consent.exports.models import Export, Read
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.models import AuditChain, AuditEntry, AuditFacts, AuditHead, Receipt
from consent.notices.models import Notice, NoticeCounter, WebhookDelivery
from consent.requests.models import ConsentRequest
from developers.models import App, DeveloperToken, LoggedRequest, WebhookEndpoint
from pkm.history.models import Index
from pkm.registry.models import ScopeEntry
from pkm.vault.models import VaultKey

BASE = 1_000_000_000  # numbers of the rows begin above what the factories made
STATUSES = ("approved", "approved", "denied", "pending")
READS, SEALED = 2, 512  # reads of each approval; characters of its ciphertext
LONG = 10_000  # lines in the history of the one with a long one


@dataclass(frozen=True)
class Cast:
    """Who and what the rows point at. All but `apps` are of one app, whose rows are no more than any other's."""

    apps: list[App]
    token: DeveloperToken
    endpoint: WebhookEndpoint
    entry: ScopeEntry
    now: datetime


def fill(cast: Cast, people: int) -> None:
    """Copy all of it; says on standard error how far it is."""
    connection.ensure_connection()
    with connection.cursor() as cursor, without_triggers(cursor):
        for template, rows in _tables(cast):
            copy(cursor, template, rows(people), f"{people:,} people")
        for template, rows in _of_the_long_one(cast, people):
            copy(cursor, template, rows, "the long history")
    with connection.cursor() as cursor:
        number_on(cursor)
        cursor.execute("ANALYZE" if connection.in_atomic_block else "VACUUM ANALYZE")


def name(prefix: str, number: int) -> str:
    """The identifier of the row with this number."""
    return f"{prefix}_{number:022d}"


def user_id(number: int) -> str:
    return name("usr", BASE + number)


Table = tuple[Model, Callable[[int], Iterator[Row]]]  # a template, and the rows for so many people


def _tables(cast: Cast) -> Iterator[Table]:
    """Each table, in an order in which what is pointed at comes first."""
    yield from _of_consent(cast)
    yield from _of_notices(cast)
    yield from _of_chains(cast)
    yield from _of_other_rooms(cast)


def _of_consent(cast: Cast) -> Iterator[Table]:
    """People with what they keep, what they were asked and allowed, and what of it was read."""
    app, now, asked = cast.apps[0], cast.now, _request(cast)
    grant = Grant(
        app=app, scope=asked.scope, approved_attributes=asked.attributes, starts_at=now, expires_at=now + DAY * 30,
        reads=READS, reminder_waits=False,
    )  # fmt: skip
    yield User(password="!"), _people
    yield _profile(cast), lambda people: ({"id": n, "user_id": n} for n in numbers(people))
    yield (
        VaultKey(vault_status="active", primary_wrapper_id="wrp_1"),
        lambda people: ({"id": n, "user_id": n, "key_id": name("vk", n)} for n in numbers(people)),
    )
    yield asked, lambda people: _requests(cast, people)
    yield grant, lambda people: _grants(cast, people)
    yield (
        _export(now),
        lambda people: ({"id": n, "grant_id": n, "export_id": name("exp", n)} for n in _of_each(people, range(2))),
    )
    yield Read(token=cast.token, at=now, batch="b"), lambda people: _reads(cast, people)
    yield (
        _receipt(now),
        lambda people: (
            {
                "id": n,
                "request_id": n if n % 4 < 3 else n - 2,
                "receipt_id": name("rct", n),
                "event": STATUSES[n % 4] if n % 4 < 3 else "revoked",
            }
            for n in _of_each(people, range(4))
        ),
    )


def _of_notices(cast: Cast) -> Iterator[Table]:
    """What apps were told, and what they looked at."""
    app, now = cast.apps[0], cast.now
    yield Notice(app=app, kind="consent.approved", facts={}, at=now), lambda people: _notices(cast, people)
    yield (
        NoticeCounter(app=app),
        lambda people: ({"app_id": one.pk, "sequence": people * 3 // len(cast.apps) + 3} for one in cast.apps),
    )
    yield (
        WebhookDelivery(
            endpoint=cast.endpoint, status="delivered", attempt=1, status_code=200, ms=20, next_at=now, finished_at=now
        ),
        lambda people: ({"id": n, "notice_id": n} for n in _of_each(people, range(1))),
    )
    yield Discovery(app=app, first_at=now, last_at=now, day=now.date()), lambda people: _looks(cast, people)


def _of_chains(cast: Cast) -> Iterator[Table]:
    """Everybody's history."""
    yield (
        AuditChain(),
        lambda people: (
            {"chain": name("chn", n), "subject": audit.person_chain(name("usr", n))} for n in numbers(people)
        ),
    )
    yield (
        AuditHead(sequence=4, entry_hash="h" * 43),
        lambda people: ({"chain": name("chn", n)} for n in numbers(people)),
    )
    yield _entry(cast.now), lambda people: _entries(cast, people)
    yield AuditFacts(salt=b"s" * 32, facts={}), lambda people: _facts(cast, people)


def _of_other_rooms(cast: Cast) -> Iterator[Table]:
    """Calls of apps, and analyses of profiles."""
    app, now = cast.apps[0], cast.now
    yield (
        LoggedRequest(app=app, at=now, method="GET", route="/api/v1/consent-status", status=200, ms=4),
        lambda people: (
            {"id": n, "app_id": cast.apps[n % len(cast.apps)].pk, "trace_id": name("trc", n)}
            for n in _of_each(people, range(2))
        ),
    )
    consent = ProcessingConsent(purposes=["profile"], expires_at=now + DAY * 30, given_at=now)
    yield consent, lambda people: ({"id": n, "user_id": n, "consent_id": name("pcs", n)} for n in numbers(people))
    run = Run(input="x", status="failed", metadata={}, finished_at=now, purge_at=now + DAY * 30)
    yield (
        run,
        lambda people: (
            {"id": n, "user_id": n, "consent_id": n, "analysis_id": name("ana", n)} for n in numbers(people)
        ),
    )


DAY = timedelta(days=1)


def numbers(people: int) -> range:
    return range(BASE, BASE + people)


def _of_each(people: int, places: range) -> Iterator[int]:
    """The numbers of those of each person's four rows that stand at these places."""
    return (n * 4 + place for n in numbers(people) for place in places)


def _app(cast: Cast, number: int) -> App:
    return cast.apps[number // 4 % len(cast.apps)]


def _people(people: int) -> Iterator[Row]:
    return ({"id": n, "public_id": name("usr", n), "email": f"person{n}@example.org"} for n in numbers(people))


def _profile(cast: Cast) -> Index:
    projection: dict[str, dict[str, int]] = {}
    for entry in ScopeEntry.objects.all():
        for segment in entry.segment_ids:
            domain, _, own = segment.partition(".")
            projection.setdefault(domain, {})[own] = 3
    return Index(available_domains=list(projection), summary_projection=projection, total_attributes=99)


def _request(cast: Cast) -> ConsentRequest:
    return ConsentRequest(
        app=cast.apps[0], scope_entry=cast.entry, scope=cast.entry.scope, app_name=cast.apps[0].name,
        attributes=cast.entry.attributes, purpose="Suggest restaurants that you would like", connector_public_key={},
        connector_key_id="bench", connector_thumbprint="t" * 43, wrapping_alg="ECDH-ES+A256KW", access_duration=86400,
        expires_at=cast.now + DAY * 3650, request_digest="A" * 43, created_at=cast.now, handling={}, mail_waits=False,
    )  # fmt: skip


def _requests(cast: Cast, people: int) -> Iterator[Row]:
    for n in _of_each(people, range(4)):
        status = STATUSES[n % 4]
        decided = status != "pending"
        yield {
            "id": n, "request_id": name("req", n), "user_id": n // 4, "app_id": _app(cast, n).pk, "status": status,
            "scope": cast.entry.scope if n % 4 else f"{cast.entry.scope}0", "decided_at": cast.now if decided else None,
            "decided_by": "person" if decided else "",
        }  # fmt: skip


def _grants(cast: Cast, people: int) -> Iterator[Row]:
    """The first lives, the second was stopped."""
    for n in _of_each(people, range(2)):
        lives = n % 4 == 0
        yield {
            "id": n, "grant_id": name("grt", n), "request_id": n, "user_id": n // 4, "app_id": _app(cast, n).pk,
            "status": "active" if lives else "revoked", "ended_at": None if lives else cast.now,
            "ended_by": "" if lives else "person",
        }  # fmt: skip


def _reads(cast: Cast, people: int) -> Iterator[Row]:
    numbers = count(BASE * 4)
    for n in _of_each(people, range(2)):
        for ago in range(READS):
            yield {"id": next(numbers), "grant_id": n, "export_id": n, "at": cast.now - DAY * (READS - ago)}


def _export(now: datetime) -> Export:
    sealed = "x" * SEALED
    return Export(
        revision=1, ciphertext=sealed, size_bytes=SEALED, connector_key_id="bench", sources=[], sealed_at=now
    )  # fmt: skip


def _receipt(now: datetime) -> Receipt:
    return Receipt(jws="x" * 400, app_jws="x" * 400, created_at=now)


def _notices(cast: Cast, people: int) -> Iterator[Row]:
    """Three of each person; an app's are numbered without a gap."""
    newest = dict.fromkeys((app.pk for app in cast.apps), 0)
    for n in _of_each(people, range(3)):
        app = _app(cast, n).pk
        newest[app] += 1
        yield {"id": n, "request_id": n, "app_id": app, "sequence": newest[app]}


def _looks(cast: Cast, people: int) -> Iterator[Row]:
    for n in _of_each(people, range(2)):
        at = cast.now - DAY * (n % 4)
        yield {"id": n, "user_id": n // 4, "app_id": _app(cast, n).pk, "day": at.date(), "first_at": at, "last_at": at}


def _entry(now: datetime) -> AuditEntry:
    return AuditEntry(version=2, prev_hash="h" * 43, facts_hash="f" * 43, actor="person", at=now)


def _entries(cast: Cast, people: int) -> Iterator[Row]:
    for n in _of_each(people, range(4)):
        kind = ("approved", "approved", "denied", "revoked")[n % 4]
        yield {
            "id": n, "chain": name("chn", n // 4), "sequence": n % 4 + 1, "kind": kind, "entry_hash": f"h{n:042d}",
        }  # fmt: skip


def _facts(cast: Cast, people: int) -> Iterator[Row]:
    for n in _of_each(people, range(4)):
        facts = {"app_id": _app(cast, n).app_id, "request_id": name("req", n if n % 4 < 3 else n - 2), "grant_id": None}
        yield {"entry_id": n, "facts": json.dumps(facts), "about": name("usr", n // 4)}


def _of_the_long_one(cast: Cast, people: int) -> Iterator[tuple[Model, Iterable[Row]]]:
    """Somebody else, with LONG lines of history: half of it reads, the rest decisions, looks by apps and by staff."""
    yield from _shared_by_the_long_one(cast, BASE + people, read_numbers=count((BASE * 2 + people) * 4))
    yield from _history_of_the_long_one(cast, BASE + people)


def _shared_by_the_long_one(
    cast: Cast, n: int, *, read_numbers: Iterator[int]
) -> Iterator[tuple[Model, Iterable[Row]]]:
    now, first, app = cast.now, n * 4, cast.apps[1 % len(cast.apps)]
    yield User(password="!"), [{"id": n, "public_id": name("usr", n), "email": f"person{n}@example.org"}]
    yield _profile(cast), [{"id": n, "user_id": n}]
    vault = VaultKey(vault_status="active", primary_wrapper_id="wrp_1")
    yield vault, [{"id": n, "user_id": n, "key_id": name("vk", n)}]
    requests = range(first, first + LONG // 20)
    scope = {r: f"{cast.entry.scope}{r - first}" for r in requests}
    yield _request(cast), (
        {"id": r, "request_id": name("req", r), "user_id": n, "app_id": app.pk, "scope": scope[r], "status": "approved",
         "decided_at": now, "decided_by": "person"}
        for r in requests
    )  # fmt: skip
    grant = Grant(app=app, approved_attributes=cast.entry.attributes, starts_at=now, expires_at=now + DAY * 30)
    yield (
        grant,
        (
            {"id": r, "grant_id": name("grt", r), "request_id": r, "user_id": n, "scope": scope[r], "reads": 10}
            for r in requests
        ),
    )
    yield (
        _export(now),
        ({"id": r, "grant_id": r, "export_id": name("exp", r)} for r in requests),
    )
    yield (
        Read(token=cast.token, batch="b"),
        (
            {
                "id": next(read_numbers),
                "grant_id": r,
                "export_id": r,
                "at": now - timedelta(minutes=10 * k + (r - first) % 10),
            }
            for k in range(LONG // 2 // len(requests))
            for r in requests
        ),
    )


def _history_of_the_long_one(cast: Cast, n: int) -> Iterator[tuple[Model, Iterable[Row]]]:
    now, first, app = cast.now, n * 4, cast.apps[1 % len(cast.apps)]
    chain = name("chn", n)
    yield Discovery(), (
        {"id": first + k, "user_id": n, "app_id": cast.apps[k % len(cast.apps)].pk, "day": at.date(), "first_at": at,
         "last_at": at, "count": 2}
        for k in range(LONG // 10)
        for at in [now - DAY * (k // len(cast.apps) + 3)]
    )  # fmt: skip
    yield AuditChain(), [{"chain": chain, "subject": audit.person_chain(name("usr", n))}]
    entries = LONG - LONG // 2 - LONG // 10
    yield AuditHead(sequence=entries, entry_hash="h" * 43), [{"chain": chain}]
    yield _entry(now), (
        {"id": first + k, "chain": chain, "sequence": k + 1, "entry_hash": f"h{first + k:042d}",
         "kind": _KINDS[k % 4], "actor": _ACTORS[k % 4], "at": now - timedelta(minutes=entries - k)}
        for k in range(entries)
    )  # fmt: skip
    yield (
        AuditFacts(salt=b"s" * 32, facts={}),
        (
            {
                "entry_id": first + k,
                "about": name("usr", n),
                "facts": json.dumps(_told(app, first + k % (LONG // 20), k)),
            }
            for k in range(entries)
        ),
    )


_KINDS = ("approved", "cancelled", "paused", "staff_viewed")
_ACTORS = ("person", "app", "person", "staff")


def _told(app: App, request: int, k: int) -> dict[str, Any]:
    if _KINDS[k % 4] == "staff_viewed":
        return {"by": name("usr", k % 8), "what": "grant", "page": "/admin/"}
    return {"app_id": app.app_id, "request_id": name("req", request), "grant_id": None}


def cast() -> Cast:
    """Twenty apps, one with a token and a webhook endpoint, in an empty, migrated database with a registry."""
    from tests.factories import AppFactory, TokenFactory, WebhookEndpointFactory

    apps = [AppFactory(name=f"Bench {number}") for number in range(20)]
    entry = ScopeEntry.objects.get(scope="attr.lifestyle.food.*")
    now = datetime.now(UTC).replace(microsecond=0)
    return Cast(apps, TokenFactory(app=apps[0]), WebhookEndpointFactory(app=apps[0]), entry, now)
