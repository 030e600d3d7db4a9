"""A database of people by COPY, each with what somebody has who has used the service for some weeks.

Each keeps a profile and a vault, was asked four times and allowed two of it, was read, looked at and told of. Rows are
numbered, so that any of them can be named without looking: person n has the requests 4n to 4n+3, the first of which
was approved and lives. Foreign keys and triggers are off while rows are copied: it takes a superuser of PostgreSQL.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.apps import apps
from django.core.management.color import no_style
from django.db import connection
from django.db.models import JSONField, Model

from accounts.models import User
from agents_proxy.models import ProcessingConsent, Run
from bench.staging import PURPOSE, SCOPE, StagedApp, add_webhook, make_apps
from consent.discovery.models import Discovery
from consent.exports.models import Export, Read
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.models import AuditChain, AuditEntry, AuditFacts, AuditHead, Receipt
from consent.notices.models import Notice, NoticeCounter, WebhookDelivery
from consent.requests.models import ConsentRequest
from developers.models import AppPerson, DeveloperToken, LoggedRequest, WebhookEndpoint
from pkm.history.models import Index
from pkm.registry.models import ScopeEntry
from pkm.vault.models import VaultKey

BASE = 1_000_000_000  # where the numbers of people begin: above all rows that are made in another way
STATUSES = ("approved", "approved", "denied", "pending")
READS = 2  # of each approval
DAY = timedelta(days=1)
_HASH = "h" * 43
LONG = 20_000  # lines: half of them reads, the others decisions, looks by apps and by staff
GRANTS, WAITING, LOOKS = 500, 1_000, LONG // 10
ENTRIES = LONG - LONG // 2 - LOOKS
_KINDS = (("approved", "person"), ("cancelled", "app"), ("paused", "person"), ("staff_viewed", "staff"))

Row = dict[str, Any]
Table = tuple[Model, Callable[[int], Iterable[Row]]]  # a template, and the rows of the person with this number


@dataclass(frozen=True)
class World:
    """What the rows point at. Token and webhook are of the first app, whose rows are no more than any other's."""

    apps: list[StagedApp]
    token: DeveloperToken
    endpoint: WebhookEndpoint
    entry: ScopeEntry
    now: datetime
    sealed: str  # the ciphertext of each export

    def app_of(self, number: int) -> StagedApp:
        """The app of all requests of this person."""
        return self.apps[(number - BASE) % len(self.apps)]


def populate(people: int, *, app_count: int, sealed: str) -> World:
    """Fill a migrated database."""
    made = make_apps(app_count)
    world = World(
        made, DeveloperToken.objects.get(app=made[0].pk), add_webhook(made[0], "https://bench.example/hook", "whsec_"),
        ScopeEntry.objects.get(scope=SCOPE), datetime.now(UTC).replace(microsecond=0), sealed,
    )  # fmt: skip
    numbers = range(BASE, BASE + people)
    counters = ({"app_id": app.pk, "sequence": people * 3 // app_count + 3} for app in made)
    with copying() as copy:
        for template, rows in (*_of_people(world), *_of_consent(world), *_of_apps(world), *_of_chains(world)):
            copy(template, (row for n in numbers for row in rows(n)))
        copy(NoticeCounter(), counters)
    return world


Copy = Callable[[Model, Iterable[Row]], None]


@contextmanager
def copying() -> Iterator[Copy]:
    """Within it rows are copied without a check of them; afterwards the tables are ready to be worked on."""
    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        yield lambda template, rows: _copy(cursor, template, rows)
        cursor.execute("SET session_replication_role = DEFAULT")
        for statement in connection.ops.sequence_reset_sql(no_style(), apps.get_models()):
            cursor.execute(statement)  # what is written from now on is numbered after all of these
        cursor.execute("VACUUM ANALYZE")


def _copy(cursor: Any, template: Model, rows: Iterable[Row]) -> None:
    """Rows that differ from the template by the columns that they name. All of them name the same."""
    values = {field.column: _plain(field, template) for field in template._meta.concrete_fields}
    columns = ", ".join(f'"{column}"' for column in values)
    with cursor.copy(f'COPY "{template._meta.db_table}" ({columns}) FROM STDIN') as target:
        for row in rows:
            target.write_row(tuple({**values, **row}.values()))


def _plain(field: Any, template: Model) -> Any:
    value = getattr(template, field.attname)
    if isinstance(field, JSONField):
        return None if value is None else json.dumps(value)
    return field.pre_save(template, add=True) if hasattr(field, "auto_now") else value


def name(prefix: str, number: int) -> str:
    """The identifier of the row with this number."""
    return f"{prefix}_{number:022d}"


def user_id(number: int) -> str:
    return name("usr", number)


def known_as(number: int) -> str:
    """What the one app that asks this person calls them."""
    return name("usr", number + 10**12)


def of_request(number: int, place: int = 0) -> str:
    """The identifier of one of the four requests of this person."""
    return name("req", number * 4 + place)


# --- Each table, in an order in which what is pointed at comes first ------------------------------------------------


def _of_people(world: World) -> Iterator[Table]:
    """Accounts with what they keep, and an analysis each."""
    now = world.now
    yield (
        User(password="!"),
        lambda n: [{"id": n, "public_id": user_id(n), "email": f"person{n}@example.org"}],
    )
    yield _profile(), lambda n: [{"id": n, "user_id": n}]
    yield (
        VaultKey(vault_status="active", primary_wrapper_id="wrp_1"),
        lambda n: [{"id": n, "user_id": n, "key_id": name("vk", n)}],
    )
    yield (
        ProcessingConsent(purposes=["profile"], expires_at=now + DAY * 30, given_at=now),
        lambda n: [{"id": n, "user_id": n, "consent_id": name("pcs", n)}],
    )
    yield (
        Run(input="x", status="failed", metadata={}, finished_at=now, purge_at=now + DAY * 30),
        lambda n: [{"id": n, "user_id": n, "consent_id": n, "analysis_id": name("ana", n)}],
    )


def _profile() -> Index:
    """Something is held in every segment."""
    projection: dict[str, dict[str, int]] = {}
    for entry in ScopeEntry.objects.all():
        for segment in entry.segment_ids:
            domain, _, own = segment.partition(".")
            projection.setdefault(domain, {})[own] = 3
    return Index(available_domains=list(projection), summary_projection=projection, total_attributes=99)


def request(world: World) -> ConsentRequest:
    return ConsentRequest(
        scope_entry=world.entry, scope=world.entry.scope, app_name="Bench", attributes=world.entry.attributes,
        purpose=PURPOSE, connector_public_key={}, connector_key_id="bench", connector_thumbprint="t" * 43,
        wrapping_alg="ECDH-ES+A256KW", access_duration=86400, expires_at=world.now + DAY * 3650,
        request_digest="A" * 43, created_at=world.now, handling={}, mail_waits=False,
    )  # fmt: skip


def _request(world: World, n: int, number: int, status: str, scope: str, back: int = 0) -> Row:
    """A request by this person's own app, or by one so many places before it."""
    decided = status != "pending"
    return {
        "id": number, "request_id": name("req", number), "user_id": n, "app_id": world.app_of(n - back).pk,
        "pairwise_id": known_as(n + back), "status": status, "scope": scope,
        "decided_at": world.now if decided else None, "decided_by": "person" if decided else "",
    }  # fmt: skip


def grant(world: World) -> Grant:
    return Grant(
        scope=world.entry.scope, approved_attributes=world.entry.attributes, starts_at=world.now,
        expires_at=world.now + DAY * 30, reads=READS, reminder_waits=False,
    )  # fmt: skip


def _grant(world: World, n: int, number: int, scope: str, status: str = "active") -> Row:
    ended = status != "active"
    return {
        "id": number, "grant_id": name("grt", number), "request_id": number, "user_id": n, "scope": scope,
        "app_id": world.app_of(n).pk, "status": status, "ended_at": world.now if ended else None,
        "ended_by": "person" if ended else "",
    }  # fmt: skip


def export(world: World) -> Export:
    return Export(
        revision=1, ciphertext=world.sealed, size_bytes=len(world.sealed), connector_key_id="bench", sources=[],
        sealed_at=world.now,
    )  # fmt: skip


def _export(number: int) -> Row:
    return {"id": number, "grant_id": number, "export_id": name("exp", number)}


def _of_consent(world: World) -> Iterator[Table]:
    """What each was asked and allowed, and what of it was read. The first grant lives, the second was stopped."""
    now, scope = world.now, world.entry.scope
    yield AppPerson(), lambda n: [{"id": n, "app_id": world.app_of(n).pk, "user_id": n, "pairwise_id": known_as(n)}]
    yield request(world), lambda n: (
        _request(world, n, n * 4 + place, status, scope if place else f"{scope}0")
        for place, status in enumerate(STATUSES)
    )  # fmt: skip
    yield (
        grant(world),
        lambda n: (
            _grant(world, n, n * 4 + place, scope, status) for place, status in enumerate(("active", "revoked"))
        ),
    )
    yield export(world), lambda n: map(_export, range(n * 4, n * 4 + 2))
    yield Read(token=world.token, batch="b"), lambda n: (
        {"id": k * READS + ago, "grant_id": k, "export_id": k, "at": now - DAY * (READS - ago)}
        for k in range(n * 4, n * 4 + 2)
        for ago in range(READS)
    )  # fmt: skip
    yield Receipt(claims="x" * 800, created_at=now), lambda n: (
        {"id": n * 4 + place, "request_id": n * 4 + of, "receipt_id": name("rct", n * 4 + place), "event": event}
        for place, (of, event) in enumerate([*enumerate(STATUSES[:3]), (1, "revoked")])
    )  # fmt: skip


def _of_apps(world: World) -> Iterator[Table]:
    """What apps were told, what they looked at and what they called. An app's notices are numbered without a gap."""
    now, app_count = world.now, len(world.apps)
    yield Notice(kind="consent.approved", facts={}, at=now), lambda n: (
        {"id": n * 4 + place, "request_id": n * 4 + place, "app_id": world.app_of(n).pk,
         "sequence": (n - BASE) // app_count * 3 + place + 1}
        for place in range(3)
    )  # fmt: skip
    yield (
        WebhookDelivery(
            endpoint=world.endpoint, status="delivered", attempt=1, status_code=200, ms=20, next_at=now, finished_at=now
        ),
        lambda n: [{"id": n * 4, "notice_id": n * 4}],
    )
    yield Discovery(), lambda n: (
        {"id": n * 4 + ago, "user_id": n, "app_id": world.app_of(n).pk, "day": at.date(), "first_at": at, "last_at": at}
        for ago, at in ((ago, now - DAY * ago) for ago in range(2))
    )  # fmt: skip
    yield LoggedRequest(at=now, method="GET", route="/api/v1/consent-status", status=200, ms=4), lambda n: (
        {"id": k, "app_id": world.app_of(n).pk, "trace_id": name("trc", k)} for k in range(n * 4, n * 4 + 2)
    )  # fmt: skip


def _of_chains(world: World) -> Iterator[Table]:
    """Everybody's history."""
    yield AuditChain(), lambda n: [{"chain": name("chn", n), "subject": audit.person_chain(user_id(n))}]
    yield AuditHead(sequence=4, entry_hash=_HASH), lambda n: [{"chain": name("chn", n)}]
    yield entry(world), lambda n: (
        {"id": n * 4 + place, "chain": name("chn", n), "sequence": place + 1, "kind": kind,
         "entry_hash": f"h{n * 4 + place:042d}"}
        for place, kind in enumerate(("approved", "approved", "denied", "revoked"))
    )  # fmt: skip
    yield AuditFacts(salt=b"s" * 32), lambda n: (
        {"entry_id": n * 4 + place, "about": user_id(n), "facts": facts(world.app_of(n), of_request(n, of))}
        for place, of in enumerate((0, 1, 2, 1))
    )  # fmt: skip


def entry(world: World) -> AuditEntry:
    return AuditEntry(prev_hash=_HASH, facts_hash="f" * 43, actor="person", at=world.now)


def facts(app: StagedApp, request_id: str) -> str:
    return json.dumps({"app_id": app.app_id, "request_id": request_id, "grant_id": None})


def add_long_history(world: World, n: int) -> None:
    """Give the last person, n, LONG lines of history, GRANTS approvals and WAITING requests more."""
    first, chain, scope, last = n * 4 + len(STATUSES), name("chn", n), world.entry.scope, len(STATUSES)
    approved, pending = range(first, first + GRANTS), range(first + GRANTS, first + GRANTS + WAITING)
    count, minute = len(world.apps), timedelta(minutes=1)
    with copying() as copy:
        copy(AppPerson(), (
            {"id": n + back, "pairwise_id": known_as(n + back), "user_id": n, "app_id": world.app_of(n - back).pk}
            for back in range(1, count)
        ))  # fmt: skip
        copy(request(world), (_request(world, n, r, "approved", f"{scope}{r}") for r in approved))
        copy(request(world), (_request(world, n, r, "pending", f"{scope}{r}", r % count) for r in pending))
        copy(grant(world), (_grant(world, n, r, f"{scope}{r}") for r in approved))
        copy(export(world), map(_export, approved))
        copy(Read(token=world.token, batch="b"), (
            {"id": first * READS + k, "grant_id": grant_id, "export_id": grant_id, "at": world.now - minute * k}
            for k, grant_id in ((k, approved[k % GRANTS]) for k in range(LONG // 2))
        ))  # fmt: skip
        copy(Discovery(count=2), (
            {"id": first + k, "user_id": n, "app_id": world.app_of(n - k).pk, "day": at.date(), "first_at": at,
             "last_at": at}
            for k, at in ((k, world.now - DAY * (k // count + 3)) for k in range(LOOKS))
        ))  # fmt: skip
        copy(entry(world), (
            {"id": first + k, "chain": chain, "sequence": last + k + 1, "entry_hash": f"h{first + k:042d}",
             "kind": _KINDS[k % 4][0], "actor": _KINDS[k % 4][1], "at": world.now - minute * (ENTRIES - k)}
            for k in range(ENTRIES)
        ))  # fmt: skip
        copy(AuditFacts(salt=b"s" * 32), (
            {"entry_id": first + k, "about": user_id(n), "facts": _facts_of(world, n, approved, k)}
            for k in range(ENTRIES)
        ))  # fmt: skip
        AuditHead.objects.filter(chain=chain).update(sequence=last + ENTRIES)


def _facts_of(world: World, n: int, requests: Sequence[int], k: int) -> str:
    if _KINDS[k % 4][0] == "staff_viewed":
        return json.dumps({"by": user_id(k % 8), "what": "grant", "page": "/admin/"})
    return facts(world.app_of(n), name("req", requests[k % GRANTS]))
