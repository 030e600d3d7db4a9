"""The real thing beside the model: people, apps and a service, and a clock that both go by."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings

from accounts.models import User
from consent_bridge import sealed
from developers.models import App
from pkm.registry.models import ScopeEntry
from tests.factories import AppFactory, PersonFactory, StaffFactory, Vault, give_vault, known_as
from tests.lifecycle.clock import Clock
from tests.lifecycle.expected_answers import digest_of
from tests.lifecycle.model import World
from tests.lifecycle.records import Export, Facts, Place, Request, Segment, segment_of
from tests.lifecycle.transport import Caller, Transport, get

HOLDINGS: dict[Place, Facts] = {
    ("lifestyle", "food"): {"diet_preference": "Vegetarian", "favorite_cuisine": "Thai", "own_dish": "Soup"},
    ("lifestyle", "fitness"): {"gym_membership": True},
    ("contact", "email"): {"email": "zoe@example.org"},
    ("financial", "signals"): {"spend_bracket": "Middle"},
}
_SESSION_LASTS = timedelta(days=10)


class Stage:
    """One person with a vault, somebody else, two apps, a member of staff; everything made afresh for each run."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        start = datetime.now(UTC).replace(microsecond=0)
        self.clock = Clock(start)
        self.owner: User = PersonFactory()
        self.stranger: User = PersonFactory()
        self.staff: User = StaffFactory()
        self.apps: list[App] = AppFactory.create_batch(2)
        # two of each app: a key belongs to one
        self.keys = [[sealed.generate_connector_key(curve) for curve in ("X25519", "P-256")] for _ in self.apps]
        self.vault: Vault = give_vault(self.owner, HOLDINGS)
        self.callers = {app.app_id: Caller.app(app) for app in self.apps}
        self.session, self.strange_session = Caller.person(self.owner), Caller.person(self.stranger)
        self.world = World(
            now=start,
            user_id=self.owner.public_id,
            names={app.app_id: known_as(app, self.owner) for app in self.apps},
            catalog=self._catalog(),
            segments={place: Segment(dict(values), 1) for place, values in HOLDINGS.items()},
            app_names={app.app_id: app.name for app in self.apps},
            issuer=settings.ISSUER,
            signed_in_at=start,
        )

    def close(self) -> None:
        """Back to the present, with the registry as it was."""
        ScopeEntry.objects.filter(scope__in=self.world.withdrawn).update(exposure_enabled=True)
        self.clock.stop()

    def _catalog(self) -> list[Facts]:
        entries = get(self.transport, self.callers[self.apps[0].app_id], "/api/v1/scope-catalog").json()
        return [without_change(entry) for entry in entries["scope_entries"]]

    def advance(self, seconds: int) -> None:
        """Time passes; nobody has to wait for it. A session that would end by it is renewed, which is a sign-in."""
        self.clock.advance(seconds)
        self.world.now += timedelta(seconds=seconds)
        if self.world.now - self.world.signed_in_at > _SESSION_LASTS:
            self.sign_in()

    def sign_in(self) -> None:
        self.session, self.strange_session = Caller.person(self.owner), Caller.person(self.stranger)
        self.world.signed_in_at = self.world.now

    # -- what the person's browser seals

    def seal_segment(self, place: Place, values: Facts, revision: int) -> str:
        header = sealed.SegmentHeader(self.vault.key.key_id, self.owner.public_id, *place, revision)
        return sealed.seal_segment(values, self.vault.key.secret, header)

    def seal_export(
        self, request: Request, approved: list[str], *, revision: int, sources: list[dict[str, Any]], **wrong: Any
    ) -> Export:
        """What the person has now of what was approved; `wrong` are members of the header that do not fit."""
        values = {place: kept.values or {} for place, kept in self.world.segments.items()}
        data = sealed.pick(values, approved)
        content = sealed.ExportContent(
            scope=request.scope,
            approved_attributes=tuple(approved),
            data=data,
            sources=tuple(sealed.Source(**source) for source in sources),
            sealed_at=self.world.now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
        public = request.terms["connector_public_key"]
        jwe = sealed.seal_export(content, public, self.header(request, revision, **wrong))
        return Export(revision=revision, jwe=jwe, data=data, sealed_at=self.world.now)

    def sign(self, request: Request, export: Export, approved: list[str], duration: int, ends_at: int | None) -> Facts:
        """What the vault signs of an export, whatever its own header says."""
        export.signed = sealed.signed_approval(
            self.vault.root,
            vars(self.header(request, export.revision)),
            approved_attributes=approved,
            access_duration=duration,
            sealed=export.jwe,
            ends_at=ends_at,
        )
        return export.signed

    def sign_resumption(self, request: Request, grant_id: str) -> Facts:
        """What lets a paused grant go on; the nonce is asked for here."""
        nonce = get(self.transport, self.session, f"/consent/grants/{grant_id}/nonce").json()["nonce"]
        header = self.header(request, 1)
        names = {"issuer": header.iss, "user_id": header.sub, "app_id": header.aud}
        return sealed.signed_resumption(
            self.vault.root, **names, grant_id=grant_id, request_digest=header.request_digest, nonce=nonce
        )

    def header(self, request: Request, revision: int, **wrong: Any) -> sealed.ExportHeader:
        members: dict[str, Any] = {
            "kid": request.terms["connector_key_id"],
            "iss": sealed.origin_of(self.world.issuer),
            "sub": request.user_id,
            "aud": request.app,
            "request_id": request.request_id.value,
            "scope": request.scope,
            "revision": revision,
            "request_digest": digest_of(self.world, request),
        }
        return sealed.ExportHeader(**{**members, **wrong})

    def sources(self, approved: list[str]) -> list[dict[str, Any]]:
        """The segments that hold something of it, as they are now."""
        places = sorted({segment_of(path) for path in approved if path in self.world.paths()})
        return [
            {"domain": domain, "segment_id": segment, "content_revision": self.world.segments[domain, segment].revision}
            for domain, segment in places
        ]


def without_change(entry: Facts) -> Facts:
    """A registry entry but for when staff last touched it."""
    return {name: value for name, value in entry.items() if name != "updated_at"}
