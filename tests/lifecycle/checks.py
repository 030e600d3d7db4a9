"""What the database has to hold after each step, and what must hold when all is over."""

from typing import Any

from joserfc import jws
from joserfc.jwk import KeySet

from consent.discovery import counts, unknown_users
from consent.discovery.models import Discovery
from consent.exports.models import Export
from consent.grants.models import Grant
from consent.ledger import audit, verifying
from consent.ledger.models import AuditEntry, Receipt
from consent.ledger.receipts import claims_of, public_keys
from consent.notices.models import Notice, NoticeCounter
from consent_bridge import sealed
from tests.lifecycle.expected_answers import misses_counted
from tests.lifecycle.model import World
from tests.lifecycle.records import LIVE, Fresh, Request, same, wire
from tests.lifecycle.stage import Stage

_BY_STAFF_LOOKING = "staff_viewed"  # the admin's own entries, which are no part of the lifecycle


class Records:
    """Compares what was written; remembers how far it looked, since what is behind is append-only."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.seen = {app.app_id: 0 for app in stage.apps}
        self.ended: dict[str, str] = {}

    def check(self) -> None:
        world = self.stage.world
        for app in self.stage.apps:
            self._check_notices(app.app_id, world)
        self._check_receipts(world)
        self._check_exports()
        for request in world.requests:
            self._check_that_it_stays(request)

    def _check_notices(self, app_id: str, world: World) -> None:
        """One sequence for each app, without a gap, and each notice as things stood then."""
        wanted = world.notices.get(app_id, [])
        found = list(
            Notice.objects.filter(app__app_id=app_id, sequence__gt=self.seen[app_id])
            .order_by("sequence")
            .values_list("sequence", "kind", "facts")
        )
        same(
            [(number, *notice) for number, notice in enumerate(wanted, start=1)][self.seen[app_id] :], found, "notices"
        )
        newest = NoticeCounter.objects.filter(app__app_id=app_id).values_list("sequence", flat=True).first()
        same(len(wanted), newest or 0, "the counter of notices")
        self.seen[app_id] = len(wanted)

    def _check_receipts(self, world: World) -> None:
        """Exactly one for every event that ended something."""
        wanted = [
            (request.request_id.value, event, receipt.value)
            for request in world.requests
            for event, receipt in request.receipts
        ]
        of_person = Receipt.objects.filter(request__user=self.stage.owner)
        found = list(of_person.values_list("request__request_id", "event", "receipt_id"))
        same(sorted(wanted), sorted(found), "receipts")

    def _check_exports(self) -> None:
        """A live grant has the ciphertext of its newest revision and no other; an ended one has none."""
        of_person = Export.objects.filter(grant__user=self.stage.owner, ciphertext__isnull=False)
        found = dict(of_person.values_list("grant__grant_id", "ciphertext"))
        wanted = {
            request.grant.grant_id.value: request.grant.exports[-1].jwe
            for request in self.stage.world.requests
            if request.grant is not None and request.grant.written in LIVE
        }
        same(wanted, found, "ciphertexts")
        same(len(found), of_person.count(), "ciphertexts")

    def _check_that_it_stays(self, request: Request) -> None:
        """Whatever the model says: what once had ended stays as it ended."""
        now, name = self.stage.world.now, str(request.request_id)
        if name in self.ended:
            body = request.body(now)
            same(self.ended[name], _end(body), name)
        elif not request.is_open(now):
            self.ended[name] = _end(request.body(now))

    def check_at_the_end(self) -> None:
        """Grants as the database has them, the chains, every receipt's signature, and who looked how often."""
        world = self.stage.world
        written = Grant.objects.filter(user=self.stage.owner).values_list("request__request_id", "status")
        same({r.request_id.value: r.grant.written for r in world.requests if r.grant}, dict(written), "grants")
        chains = {
            audit.person_chain(world.user_id): "person",
            **{audit.app_chain(app.app_id): app.app_id for app in self.stage.apps},
        }
        for chain, name in chains.items():
            same([], list(verifying.verify(chain)))
            same([(kind, actor, _plain(about)) for kind, actor, about in world.chains.get(name, [])], _entries(chain))
        self._check_signatures(world)
        self._check_discoveries(world)

    def _check_signatures(self, world: World) -> None:
        requests = {request.request_id.value: request for request in world.requests}
        for receipt in Receipt.objects.filter(request__user=self.stage.owner).select_related("request__app"):
            request = requests[receipt.request.request_id]
            own, app = verified(receipt.jws), verified(receipt.app_jws)
            entry = AuditEntry.objects.get(chain=own["audit"]["chain"], sequence=own["audit"]["sequence"])
            expected = (entry.kind, entry.entry_hash, entry.facts["receipt_id"])
            same((receipt.event, own["audit"]["entry_hash"], receipt.receipt_id), expected)
            same(audit.chain_id(audit.app_chain(receipt.request.app.app_id)), app.pop("audit")["chain"])
            same(audit.chain_id(audit.person_chain(world.user_id)), own.pop("audit")["chain"])
            same(own, app)
            check_claims(own, request, receipt.event, receipt.receipt_id)

    def _check_discoveries(self, world: World) -> None:
        counts._counts.flush()
        for app in self.stage.apps:
            looked = Discovery.objects.filter(app=app, user=self.stage.owner).values_list("count", flat=True)
            same(world.discoveries.get(app.app_id, 0), sum(looked), "discoveries")
            same(misses_counted(world, app.app_id), unknown_users.peek(app.pk, "").used, "misses")


def _end(body: dict[str, Any]) -> str:
    return f"{body['status']} {body['grant']['status'] if body['grant'] else ''}"


def _entries(chain: str) -> list[tuple[str, str, Any]]:
    entries = AuditEntry.objects.of(chain).exclude(kind=_BY_STAFF_LOOKING).order_by("sequence")
    return [
        (
            entry.kind,
            entry.actor,
            entry.facts["count"] if entry.kind == "reads" else entry.facts.get("request_id", entry.facts.get("app_id")),
        )
        for entry in entries.select_related("kept")
    ]


def _plain(about: Any) -> Any:
    return about.value if isinstance(about, Fresh) else about


def verified(token: str) -> dict[str, Any]:
    """The claims of a receipt whose signature one of the published keys verifies."""
    keys = KeySet.import_key_set(public_keys())  # type: ignore[arg-type]  # the stubs want their own shape
    return claims_of(jws.deserialize_compact(token, keys, algorithms=["EdDSA"]).payload)


def check_claims(claims: dict[str, Any], request: Request, event: str, receipt_id: str) -> None:
    """A receipt says what happened to which request, and of which attributes."""
    grant = request.grant
    wanted = {
        "event": event,
        "receipt_id": receipt_id,
        "pii_principal_id": request.user_id,
        "pii_controller": request.app,
        "purpose": request.terms["purpose"],
        "connector_fingerprint": sealed.thumbprint(request.terms["connector_public_key"]),
        "record_id": grant.grant_id.value if grant else request.request_id.value,
        "pii_types": grant.approved if grant else request.requested,
        "seconds": (grant.expires_at - grant.starts_at).total_seconds() if grant else request.terms["access_duration"],
    }
    named = {
        "event": claims["event"]["type"],
        "pii_controller": claims["pii_controller"]["app_id"],
        "seconds": claims["retention"]["access_duration"],
    }
    if event == "expired":
        same(wire(grant.expires_at if grant else request.expires_at), claims["event"]["time"], "when it expired")
    same(wanted, {**{name: claims[name] for name in wanted if name in claims}, **named}, "receipt")


def check_slice(stage: Stage, request: Request, jwe: str) -> None:
    """The app's key opens what was read, and it is what the person approved."""
    assert request.grant is not None
    export = request.grant.exports[-1]
    print_ = sealed.thumbprint(request.terms["connector_public_key"])
    private = next(key for keys in stage.keys for key in keys if sealed.thumbprint(sealed.public_half(key)) == print_)
    content = sealed.open_export(jwe, private, stage.header(request, export.revision))
    wanted = (export.data, wire(export.sealed_at), tuple(request.grant.approved))
    same(wanted, (content.data, content.sealed_at, content.approved_attributes), "slice")
