"""People, requests, grants and exports for the measurements, written in bulk; what they hold is sealed once."""

import base64
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle
from typing import Any

from accounts.models import User
from common.identifiers import new_identifier
from consent.exports.models import Export
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.models import AuditChain, AuditEntry, AuditHead, Receipt
from consent.notices.models import Notice
from consent.requests.models import ConsentRequest
from consent_bridge.sealed import generate_connector_key, public_half, thumbprint
from developers.models import App, DeveloperApplication, DeveloperToken
from developers.tokens.digests import new_token
from pkm.history.models import Index
from pkm.registry.models import ScopeEntry
from pkm.vault.models import VaultKey

PEOPLE, GRANTED, PENDING, KEYS = 500, 3000, 3000, 8
STRANGERS = 40_000  # whom nobody asked about yet: five rounds of first discoveries
# who make new requests: one app alone may make 1,000 an hour, and have five wait for one person; a prime, so that each
# person is asked by all of them in turn
ASKING_APPS = 41
EXPORT_BYTES = 4096  # of plaintext
ASKED_SCOPES = (
    "identity.basic", "contact.email", "location.home", "professional.work", "lifestyle.fitness",
    "lifestyle.shopping", "lifestyle.habits", "technology.use", "interests.leisure", "brands.affinity",
)  # fmt: skip


@dataclass(frozen=True)
class Population:
    """What the requests are made of."""

    token: str
    asking_tokens: list[str]  # of the apps that ask
    people: list[str]
    strangers: list[str]
    statuses: list[str]
    exports: list[str]
    keys: list[dict[str, Any]]


def populate() -> Population:
    """Fill an empty, migrated database."""
    now = datetime.now(UTC).replace(microsecond=0)
    people = _people("person", PEOPLE)
    strangers = _people("stranger", STRANGERS)
    app, token = _app(people[0])
    keys = [public_half(generate_connector_key()) for _ in range(KEYS)]
    food = ScopeEntry.objects.get(scope="attr.lifestyle.food.*")
    granted = [_request(app, people[n % PEOPLE], food, keys[0], now, n, "approved") for n in range(GRANTED)]
    pending = [_request(app, people[n % PEOPLE], food, keys[0], now, n, "pending") for n in range(PENDING)]
    ConsentRequest.objects.bulk_create([*granted, *pending], batch_size=1000)
    _grants(app, granted, now)
    _chains(people, now)
    return Population(
        token=token,
        asking_tokens=[_app(people[number])[1] for number in range(ASKING_APPS)],
        people=[person.public_id for person in people],
        strangers=[person.public_id for person in strangers],
        statuses=[request.request_id for pair in zip(granted, pending, strict=True) for request in pair],
        exports=[request.request_id for request in granted],
        keys=keys,
    )


def _people(name: str, count: int) -> list[User]:
    """People with a vault, who hold something in every segment of the registry."""
    made = User.objects.bulk_create(
        (User(email=f"{name}{number}@example.org", password="!") for number in range(count)), batch_size=1000
    )
    projection: dict[str, dict[str, int]] = {}
    for segments in ScopeEntry.objects.values_list("segment_ids", flat=True):
        for segment in segments:
            domain, _, segment_name = segment.partition(".")
            projection.setdefault(domain, {})[segment_name] = 3
    Index.objects.bulk_create(
        (
            Index(user=person, available_domains=list(projection), summary_projection=projection, total_attributes=99)
            for person in made
        ),
        batch_size=1000,
    )
    VaultKey.objects.bulk_create(
        VaultKey(user=person, key_id=new_identifier("vk"), vault_status="active", primary_wrapper_id="wrp_1")
        for person in made
    )
    return made


def _app(developer: User) -> tuple[App, str]:
    application = DeveloperApplication.objects.create(
        applicant=developer, name="Bench", legal_name="Bench", website="https://bench.example",
        privacy_policy="https://bench.example/privacy", contact_email="bench@bench.example",
    )  # fmt: skip
    app = App.objects.create(application=application, name="Bench", verified=True)
    token, prefix, digest = new_token()
    DeveloperToken.objects.create(app=app, prefix=prefix, digest=digest, label="bench", created_by=developer)
    return app, token


def _request(
    app: App, user: User, entry: ScopeEntry, key: dict[str, Any], now: datetime, number: int, status: str
) -> ConsentRequest:
    decided = status != "pending"
    # one pending request for each person, scope and key: where they repeat, the fingerprint has to differ
    print_ = thumbprint(key) if decided else f"{number:043d}"
    return ConsentRequest(
        request_id=new_identifier("req"), app=app, user=user, scope_entry=entry, scope=entry.scope, app_name=app.name,
        attributes=entry.attributes, purpose="Suggest restaurants that you would like", connector_public_key=key,
        connector_key_id="bench", connector_thumbprint=print_, wrapping_alg="ECDH-ES+A256KW", access_duration=86400,
        expires_at=now + timedelta(days=1), request_digest="A" * 43, status=status, created_at=now,
        decided_at=now if decided else None, decided_by="person" if decided else "",
    )  # fmt: skip


def _grants(app: App, requests: list[ConsentRequest], now: datetime) -> None:
    """A live grant each, with its export, receipt and notice. One person, app and scope has one live grant."""
    sealed = "eyJh." + ".".join(_text(size) for size in (40, 12, EXPORT_BYTES, 16))
    grants = Grant.objects.bulk_create(
        Grant(
            grant_id=new_identifier("grt"), request=request, app=app, user=request.user,
            scope=f"{request.scope}{number // PEOPLE or ''}", approved_attributes=request.attributes, starts_at=now,
            expires_at=now + timedelta(days=1),
        )
        for number, request in enumerate(requests)
    )  # fmt: skip
    Export.objects.bulk_create(
        Export(
            export_id=new_identifier("exp"), grant=grant, revision=1, ciphertext=sealed, size_bytes=len(sealed),
            connector_key_id="bench", sources=[], sealed_at=now,
        )
        for grant in grants
    )  # fmt: skip
    Receipt.objects.bulk_create(
        Receipt(
            receipt_id=new_identifier("rct"), request=request, event="approved", jws="x", app_jws="x", created_at=now
        )
        for request in requests
    )
    Notice.objects.bulk_create(
        Notice(app=app, request=request, sequence=number + 1, kind="consent.approved", facts={}, at=now)
        for number, request in enumerate(requests)
    )


def _chains(people: list[User], now: datetime) -> None:
    """The first entry of everybody's chain, as an approval leaves it: each read looks whether the chain goes on."""
    entries = []
    for person in people:
        told: dict[str, Any] = {
            "chain": audit.person_chain(person.public_id), "sequence": 1, "prev_hash": audit.GENESIS,
            "kind": "approved", "actor": "person", "at": now, "version": 1, "own_facts": {}, "facts_hash": "",
        }  # fmt: skip
        entries.append(AuditEntry(**told, entry_hash=audit.entry_hash(**told)))
    AuditChain.objects.bulk_create(AuditChain(chain=entry.chain, subject=entry.chain) for entry in entries)
    AuditEntry.objects.bulk_create(entries)
    AuditHead.objects.bulk_create(
        AuditHead(chain=entry.chain, sequence=1, entry_hash=entry.entry_hash) for entry in entries
    )


def _text(octets: int) -> str:
    return base64.urlsafe_b64encode(os.urandom(octets)).decode().rstrip("=")


def requests_of(population: Population) -> dict[str, tuple[list[str], int]]:
    """Ready-made requests and the status that answers them, for each address that is measured."""
    bodies = [
        {
            "user_id": person, "scope": f"attr.{scope}.*", "purpose": "Suggest restaurants that you would like",
            "connector_public_key": key, "connector_key_id": "bench", "connector_wrapping_alg": "ECDH-ES+A256KW",
        }
        for key in population.keys
        for scope in ASKED_SCOPES
        for person in population.people
    ]  # fmt: skip

    def head(token: str) -> str:
        return f"Host: localhost\r\nAuthorization: Bearer {token}\r\n"

    def get(path: str) -> str:
        return f"GET {path} HTTP/1.1\r\n{head(population.token)}\r\n"

    def post(body: dict[str, Any], token: str) -> str:
        text = json.dumps(body)
        return (
            f"POST /api/v1/request-consent HTTP/1.1\r\n{head(token)}Content-Type: application/json\r\n"
            f"Content-Length: {len(text)}\r\n\r\n{text}"
        )

    reference = [f"GET /api/v1/reference/{person} HTTP/1.1\r\nHost: localhost\r\n\r\n" for person in population.people]
    return {
        "reference": (reference, 200),
        # few enough people that the warm-up meets each of them: the day's first discovery of somebody is written down
        "discovery": ([get(f"/api/v1/user-scopes/{person}") for person in population.people[:100]], 200),
        "first discovery": ([get(f"/api/v1/user-scopes/{person}") for person in population.strangers], 200),
        "status": ([get(f"/api/v1/consent-status?request_id={name}") for name in population.statuses], 200),
        "export 4 KiB": ([get(f"/api/v1/consent-export?request_id={name}") for name in population.exports], 200),
        "request": ([post(*pair) for pair in zip(bodies, cycle(population.asking_tokens))], 201),
    }
