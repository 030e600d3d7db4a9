"""One more person beside those of `bench.population`: LONG lines of history, GRANTS approvals, WAITING requests."""

import json
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from django.db.models import Model

from accounts.models import User
from bench import population as p
from consent.discovery.models import Discovery
from consent.exports.models import Read
from consent.ledger import audit
from consent.ledger.models import AuditChain, AuditFacts, AuditHead
from developers.models import AppPerson

LONG = 20_000  # lines: half of them reads, the others decisions, looks by apps and by staff
GRANTS, WAITING, LOOKS = 500, 1_000, LONG // 10
ENTRIES = LONG - LONG // 2 - LOOKS
_KINDS = (("approved", "person"), ("cancelled", "app"), ("paused", "person"), ("staff_viewed", "staff"))


def add_long_history(world: p.World, n: int) -> None:
    """Person n, whom nobody else's rows are about."""
    with p.copying() as copy:
        for template, rows in (*_shared(world, n), *_history(world, n)):
            copy(template, rows)


def _shared(world: p.World, n: int) -> Iterator[tuple[Model, Iterable[p.Row]]]:
    app, scope, requests = world.apps[-1], world.entry.scope, range(n * 4, n * 4 + GRANTS)
    apps, waiting = world.apps, range(n * 4 + GRANTS, n * 4 + GRANTS + WAITING)
    yield User(password="!"), [{"id": n, "public_id": p.user_id(n), "email": f"person{n}@example.org"}]
    yield p.profile(), [{"id": n, "user_id": n}]
    yield p.vault_key(), [{"id": n, "user_id": n, "key_id": p.name("vk", n)}]
    own = {"user_id": n, "app_id": app.pk}
    yield AppPerson(), (
        {"id": n + at, "pairwise_id": p.known_as(n + at), "user_id": n, "app_id": one.pk}
        for at, one in enumerate(reversed(apps))
    )  # fmt: skip
    yield p.request(world), (
        {"id": r, "request_id": p.name("req", r), "scope": f"{scope}{r}", "status": "approved",
         "decided_at": world.now, "decided_by": "person", "pairwise_id": p.known_as(n), **own}
        for r in requests
    )  # fmt: skip
    yield p.request(world), (
        {"id": r, "request_id": p.name("req", r), "scope": f"{scope}{r}", "status": "pending", "user_id": n,
         "app_id": apps[r % len(apps)].pk, "pairwise_id": p.known_as(n + len(apps) - 1 - r % len(apps))}
        for r in waiting
    )  # fmt: skip
    yield p.grant(world), (
        {"id": r, "grant_id": p.name("grt", r), "request_id": r, "scope": f"{scope}{r}", "reads": 10, **own}
        for r in requests
    )  # fmt: skip
    yield p.export(world), ({"id": r, "grant_id": r, "export_id": p.name("exp", r)} for r in requests)
    yield Read(token=world.token, batch="b"), (
        {"id": (n * 4 + GRANTS) * p.READS + k, "grant_id": requests[k % GRANTS], "export_id": requests[k % GRANTS],
         "at": world.now - timedelta(minutes=k)}
        for k in range(LONG // 2)
    )  # fmt: skip


def _history(world: p.World, n: int) -> Iterator[tuple[Model, Iterable[p.Row]]]:
    first, chain, apps = n * 4, p.name("chn", n), world.apps
    yield Discovery(count=2), (
        {"id": first + k, "user_id": n, "app_id": apps[k % len(apps)].pk, "day": at.date(), "first_at": at,
         "last_at": at}
        for k, at in ((k, world.now - p.DAY * (k // len(apps) + 3)) for k in range(LOOKS))
    )  # fmt: skip
    yield AuditChain(), [{"chain": chain, "subject": audit.person_chain(p.user_id(n))}]
    yield AuditHead(sequence=ENTRIES, entry_hash="h" * 43), [{"chain": chain}]
    yield p.entry(world), (
        {"id": first + k, "chain": chain, "sequence": k + 1, "entry_hash": f"h{first + k:042d}",
         "kind": _KINDS[k % 4][0], "actor": _KINDS[k % 4][1], "at": world.now - timedelta(minutes=ENTRIES - k)}
        for k in range(ENTRIES)
    )  # fmt: skip
    yield AuditFacts(salt=b"s" * 32), (
        {"entry_id": first + k, "about": p.user_id(n), "facts": _facts(world, first, k)} for k in range(ENTRIES)
    )  # fmt: skip


def _facts(world: p.World, first: int, k: int) -> Any:
    if _KINDS[k % 4][0] == "staff_viewed":
        return json.dumps({"by": p.user_id(k % 8), "what": "grant", "page": "/admin/"})
    return p.facts(world.apps[-1], p.name("req", first + k % GRANTS))
