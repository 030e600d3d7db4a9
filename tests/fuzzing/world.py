"""Who is there when addresses are called in odd ways: the people of the table of access, and what person B keeps."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connection, models

from accounts.models import User
from agents_proxy.processing_consent import actions as consents
from tests import factories
from tests.access.callers import Caller, Session, session_of
from tests.access.world import World, make_world
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.proxy_calls import EVERY_PURPOSE
from tests.fakes.aggregator import Aggregator

ROOT = Path(__file__).resolve().parents[2]
_HOPS = 3  # from a record to the person whose it is
_SHORTEST = 12  # characters of a secret that is looked for


@dataclass(repr=False)
class Fuzzed:
    """The world, whoever answers beyond it, and what must be nowhere in an answer."""

    world: World
    agents: Agents
    sessions: dict[Caller, Session] = field(default_factory=dict)
    secrets: tuple[bytes, ...] = ()
    names: tuple[str, ...] = ()
    kept: str = ""

    def session(self, caller: Caller) -> Session:
        if caller not in self.sessions:
            self.sessions[caller] = session_of(caller, self.world)
        return self.sessions[caller]


def make(agents: Agents, bank: Aggregator) -> Fuzzed:
    """Person B has what person A has, asked for by an app of its own."""
    world = make_world(bank)
    consents.give(by=world.owner, purposes=EVERY_PURPOSE)
    other = world.stranger
    pending = factories.ConsentRequestFactory(app=factories.AppFactory(), user=other)
    grant = factories.ExportFactory(grant__request__app=pending.app, grant__request__user=other).grant
    consent = factories.ProcessingConsentFactory(user=other)
    run = factories.RunFactory(user=other)
    number = factories.PhoneNumberFactory(user=other)
    names = (
        pending.request_id, grant.grant_id, grant.request.request_id, pending.app.app_id, consent.consent_id,
        run.analysis_id, str(number.pk), other.key_wrappers.first().wrapper_id, *world.ids.values(),
    )  # fmt: skip
    found = Fuzzed(world, agents, names=tuple(dict.fromkeys(names)), secrets=tuple(_secrets(world, agents)))
    for caller in Caller:
        found.session(caller)  # signing in writes rows
    found.kept = kept_by(other)
    return found


def _secrets(world: World, agents: Agents) -> Iterator[bytes]:
    """Keys, tokens, addresses of other services, and where this program lies."""
    told = [settings.SECRET_KEY, *settings.DATA_ENCRYPTION_KEYS, *world.tokens.values(), agents.address]
    told += [key["d"] for keys in (settings.RECEIPT_KEYS, settings.LOG_KEYS) for key in keys]
    told += [
        str(ROOT),
        settings.DATABASES["default"].get("PASSWORD", ""),
        "Traceback (most recent call",
    ]
    yield from (text.encode() for text in map(str, told) if len(text) >= _SHORTEST)


def kept_by(person: User) -> str:
    """A digest of every row that is this person's, over up to three records."""
    digest = hashlib.sha256()
    for model in apps.get_models():
        for path in sorted(_paths(model, _HOPS)):
            rows = model._default_manager.filter(**{path: person.pk}).order_by("pk").values_list()
            digest.update(repr((model.__name__, path, list(rows))).encode())
    return digest.hexdigest()


def _paths(model: type[models.Model], hops: int) -> Iterator[str]:
    """How this record leads to a person."""
    if model is User:
        yield "pk"
        return
    for member in model._meta.concrete_fields:
        if not isinstance(member, models.ForeignKey) or member.related_model == model or not hops:
            continue
        if member.related_model is User:
            yield member.name
        else:
            yield from (f"{member.name}__{rest}" for rest in _paths(member.related_model, hops - 1))


class Writes:
    """Whether anything was written to the database."""

    def __init__(self) -> None:
        self.any = False

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.any = self.any or sql.lstrip("( \n").upper().startswith(("INSERT", "UPDATE", "DELETE", "WITH"))
        return execute(sql, params, many, context)


def watched() -> Any:
    """For `with`: the writes of this connection."""
    writes = Writes()
    return writes, connection.execute_wrapper(writes)
