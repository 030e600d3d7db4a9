"""Requests, grants, exports and reads, sealed to keys that really open them."""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import factory
from django.conf import settings

from common.clock import rfc3339
from common.identifiers import new_identifier
from consent.connections.models import Connection
from consent.connector_keys.models import ConnectorKey, PublishedKeys
from consent.exports.models import Export, ForgottenReads, Read
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest, OwnRules
from consent.states import Actor, GrantStatus, RequestStatus
from consent_bridge import sealed
from pkm.registry.models import ScopeEntry
from tests.factories.accounts import PersonFactory
from tests.factories.developers import AppFactory, TokenFactory, known_as
from tests.factories.making import makes

FOOD = "attr.lifestyle.food.*"


def now() -> datetime:
    """The present in whole seconds, as everything on the wire is."""
    return datetime.now(UTC).replace(microsecond=0)


class ConsentRequestFactory(makes(ConsentRequest)):
    """A pending request; the private half of its connector key is at `made.connector`, which the record does not keep.

    `scope` names any entry of the registry. `status="denied"` and the like give it a decision by the person.
    """

    class Params:
        access_seconds = 86400

    request_id = factory.LazyFunction(lambda: new_identifier("req"))
    app = factory.SubFactory(AppFactory)
    user = factory.SubFactory(PersonFactory)
    pairwise_id = factory.LazyAttribute(lambda made: known_as(made.app, made.user))
    scope = FOOD
    scope_entry = factory.LazyAttribute(lambda made: ScopeEntry.objects.get(scope=made.scope))
    app_name = factory.SelfAttribute("app.name")
    attributes = factory.LazyAttribute(lambda made: list(made.scope_entry.attributes))
    purpose = "Suggest restaurants that you would like"
    connector = factory.LazyFunction(sealed.generate_connector_key)
    connector_public_key = factory.LazyAttribute(lambda made: sealed.public_half(made.connector))
    connector_key_id = "key-1"
    connector_thumbprint = factory.LazyAttribute(lambda made: sealed.thumbprint(made.connector_public_key))
    wrapping_alg = "ECDH-ES+A256KW"
    access_duration = factory.SelfAttribute("access_seconds")
    created_at = factory.LazyFunction(now)
    expires_at = factory.LazyAttribute(lambda made: made.created_at + timedelta(days=1))
    status = RequestStatus.PENDING
    decided_at = factory.LazyAttribute(lambda made: None if made.status == "pending" else made.created_at)
    decided_by = factory.LazyAttribute(lambda made: "" if made.status == "pending" else Actor.PERSON.value)

    @factory.lazy_attribute
    def request_digest(self) -> str:
        """By the bridge's own code, so that the server's is compared with another's."""
        members = {name: getattr(self, name, None) for name in sealed.DIGEST_MEMBERS}
        members |= {name: getattr(self, name) for name in sealed.LATER_MEMBERS if getattr(self, name, None) is not None}
        return sealed.request_digest(
            members
            | {
                "app_id": self.app.app_id,
                "user_id": self.pairwise_id,
                "expires_at": rfc3339(self.expires_at),
                "refresh_policy": members["refresh_policy"] or "snapshot",
            }
        )

    @classmethod
    def _create(cls, model_class: Any, *args: Any, connector: Any, **kwargs: Any) -> ConsentRequest:
        request: ConsentRequest = super()._create(model_class, *args, **kwargs)
        request.connector = connector
        return request


class ConnectionFactory(makes(Connection)):
    """Begun and not opened yet; a `user` makes it connected and completed. The code to type is at `made.code`."""

    class Params:
        code = factory.Sequence(lambda n: f"{n:08d}")

    connection_id = factory.LazyFunction(lambda: new_identifier("con"))
    app = factory.SubFactory(AppFactory)
    user = None
    code_digest = factory.LazyAttribute(lambda made: hashlib.sha256(made.code.encode()).hexdigest())
    return_url = "https://shop.example/back"
    created_at = factory.LazyFunction(now)
    expires_at = factory.LazyAttribute(lambda made: made.created_at + timedelta(minutes=10))
    status = factory.LazyAttribute(lambda made: "connected" if made.user else "pending")
    complete_by = factory.LazyAttribute(lambda made: made.expires_at if made.user else None)
    completed_at = factory.LazyAttribute(lambda made: made.created_at if made.user else None)


class ConnectorKeyFactory(makes(ConnectorKey)):
    """A key that an app used and did not register; `tests/vouched.py` registers as people do."""

    app = factory.SubFactory(AppFactory)
    thumbprint = factory.LazyFunction(lambda: sealed.thumbprint(sealed.public_half(sealed.generate_connector_key())))


class PublishedKeysFactory(makes(PublishedKeys)):
    """A request whose app's domain was not asked yet."""

    request = factory.SubFactory(ConsentRequestFactory)
    due_at = factory.LazyFunction(now)


class GrantFactory(makes(Grant)):
    """A live grant of all that was asked. `status="revoked"` and the like give it its end."""

    grant_id = factory.LazyFunction(lambda: new_identifier("grt"))
    request = factory.SubFactory(ConsentRequestFactory, status=RequestStatus.APPROVED)
    app = factory.SelfAttribute("request.app")
    user = factory.SelfAttribute("request.user")
    scope = factory.SelfAttribute("request.scope")
    approved_attributes = factory.LazyAttribute(lambda made: list(made.request.attributes))
    starts_at = factory.SelfAttribute("request.decided_at")
    expires_at = factory.LazyAttribute(lambda made: made.starts_at + timedelta(seconds=made.request.access_duration))
    max_reads = factory.SelfAttribute("request.max_reads")
    status = GrantStatus.ACTIVE
    ended_at = factory.LazyAttribute(lambda made: None if made.status in ("active", "paused") else made.starts_at)
    ended_by = factory.LazyAttribute(lambda made: "" if made.status in ("active", "paused") else Actor.PERSON.value)


class ExportFactory(makes(Export)):
    """The sealed slice of a grant: `values` (path → value) as they would come out of the person's vault."""

    class Params:
        values = factory.LazyAttribute(lambda made: dict.fromkeys(made.grant.approved_attributes, "Thai"))

    export_id = factory.LazyFunction(lambda: new_identifier("exp"))
    grant = factory.SubFactory(GrantFactory)
    revision = 1
    connector_key_id = factory.SelfAttribute("grant.request.connector_key_id")
    sealed_at = factory.SelfAttribute("grant.starts_at")
    approval = "signed.by.nobody"
    owner_key = factory.LazyFunction(lambda: {"kty": "OKP", "crv": "Ed25519", "x": "A" * 43})
    size_bytes = factory.LazyAttribute(lambda made: len(made.ciphertext))

    @factory.lazy_attribute
    def sources(self) -> list[dict[str, Any]]:
        segments = {tuple(path.split(".")[:2]): None for path in self.grant.approved_attributes}
        return [{"domain": domain, "segment_id": segment, "content_revision": 1} for domain, segment in segments]

    @factory.lazy_attribute
    def ciphertext(self) -> str:
        request = self.grant.request
        by_segment: dict[tuple[str, str], dict[str, Any]] = {}
        for path, value in self.values.items():
            domain, segment, name = path.split(".")
            by_segment.setdefault((domain, segment), {})[name] = value
        content = sealed.ExportContent(
            scope=request.scope,
            approved_attributes=tuple(self.grant.approved_attributes),
            data=sealed.pick(by_segment, self.grant.approved_attributes),
            sources=tuple(sealed.Source(**source) for source in self.sources),
            sealed_at=rfc3339(self.sealed_at) or "",
        )
        header = sealed.ExportHeader(
            kid=request.connector_key_id,
            iss=sealed.origin_of(settings.ISSUER),
            sub=request.pairwise_id,
            aud=request.app.app_id,
            request_id=request.request_id,
            scope=request.scope,
            revision=self.revision,
            request_digest=request.request_digest,
        )
        return sealed.seal_export(content, request.connector_public_key, header)


class ForgottenReadsFactory(makes(ForgottenReads)):
    """The one mark: up to which entry reads are gone."""

    class Meta:
        django_get_or_create = ("id",)

    id = 1


class ReadFactory(makes(Read)):
    """One read of a live grant's export."""

    export = factory.SubFactory(ExportFactory)
    grant = factory.SelfAttribute("export.grant")
    token = factory.LazyAttribute(lambda made: TokenFactory(app=made.grant.app))
    at = factory.LazyFunction(now)
    address_prefix = "203.0.113.0/24"


class OwnRulesFactory(makes(OwnRules)):
    """Somebody's rules, all off."""

    user = factory.SubFactory(PersonFactory)
