"""One of everything that belongs to somebody: what person A keeps and app A asked for, and others beside them."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from allauth.account.models import EmailAddress
from django.conf import settings
from django.utils import timezone

from accounts.models import User
from common import encryption
from consent.connector_keys.actions import register_key
from consent.decisions import actions as decision_actions
from consent.grants.models import Grant
from consent.ledger.models import Receipt
from consent.requests.models import ConsentRequest
from consent_bridge import sealed
from developers.models import App, AppMember
from tests import factories
from tests.agents_proxy.institutions import linked
from tests.consent.decisions import approval_body
from tests.factories import Vault
from tests.factories.whole_person import everything_about_somebody, somebody_with_old_data
from tests.fakes.aggregator import Aggregator
from tests.pkm.sealed_segments import segment

_LINK = encryption.sealed('{"token": "link-of-tests", "url": "https://aggregator.example/link"}')
CANARY = "canary0f1e2d3c4b5a"  # in everything about person C, who has nothing to do with A and B
ABSENT = "x" * 26  # ends every made-up ID: of the form of ours, and nobody's


@dataclass
class Sandbox:
    """Test app A, which person A manages, with a sandbox person of whom it asked the same."""

    app: App
    vault: Vault
    pending: ConsentRequest
    grant: Grant

    def approval(self) -> dict[str, Any]:
        return approval_body(self.pending, self.vault)

    def ids(self) -> dict[str, str]:
        return {
            "app_id": self.app.app_id,
            "app_name": self.app.name,
            "user_id": self.vault.user.public_id,
            "request_id": self.pending.request_id,
            "grant_id": self.grant.grant_id,
            "wrapper_id": self.vault.user.key_wrappers.first().wrapper_id,
        }


@dataclass
class World:
    """Who there is, and what the addresses of the table name. All of it is person A's, asked for by app A.

    At the addresses of the sandbox it is the sandbox person's, asked for by test app A.
    """

    bank: Aggregator
    owner: User
    stranger: User
    staff: User
    staff_2fa: User
    app: App
    vault: Vault
    pending: ConsentRequest
    grant: Grant
    continuous: Grant
    receipt: Receipt
    sandbox: Sandbox
    strangers_app_id: str
    strangers_test_app_id: str
    tokens: dict[str, str]
    ids: dict[str, str] = field(default_factory=dict)

    def approval(self) -> dict[str, Any]:
        return approval_body(self.pending, self.vault)

    def refreshed(self) -> dict[str, Any]:
        """The export's next revision, sealed to another request's key."""
        return _refreshed(self.approval())

    def segment(self) -> dict[str, Any]:
        return _segment(self.vault)

    def resealed(self) -> dict[str, Any]:
        return {"jwe": self.segment()["jwe"], "content_revision": 1}

    def sandbox_approval(self) -> dict[str, Any]:
        return self.sandbox.approval()

    def sandbox_refreshed(self) -> dict[str, Any]:
        return _refreshed(self.sandbox.approval())

    def sandbox_segment(self) -> dict[str, Any]:
        return _segment(self.sandbox.vault)

    def ids_at(self, route: str) -> dict[str, str]:
        """What the parts of this route stand for."""
        return {**self.ids, **self.sandbox.ids()} if "/sandbox/" in route else self.ids

    def body_to_ask(self) -> dict[str, Any]:
        """A request that app A may make of person A."""
        return {
            "user_id": factories.known_as(self.app, self.owner),
            "scope": "attr.lifestyle.food.*",
            "purpose": "Suggest restaurants that you would like",
            "connector_public_key": sealed.public_half(sealed.generate_connector_key()),
            "connector_key_id": "key-2",
            "connector_wrapping_alg": "ECDH-ES+A256KW",
        }


def _refreshed(approval: dict[str, Any]) -> dict[str, Any]:
    return {"revision": 2, "sources": approval["sources"], "jwe": approval["jwe"]}


def _segment(vault: Vault) -> dict[str, Any]:
    return segment(vault, "lifestyle", "food", {"favorite_cuisine": "Thai"}, base=1)


def people_with_old_data() -> tuple[User, User]:
    """Persons A and C. Their old rows lift triggers, after which SQLite reads its schema at every undone call anew."""
    return factories.LegacyBlobFactory().user, somebody_with_old_data(CANARY)


def make_world(bank: Aggregator, owner: User, neighbour: User) -> World:
    """Some hundred rows; every address of the register finds what it names."""
    stranger = factories.PersonFactory()
    vault = factories.give_vault(owner)
    staff, staff_2fa = factories.StaffFactory(), factories.StaffFactory()
    for other in (stranger, staff, staff_2fa):
        factories.give_vault(other)
    app, other, suspended = (factories.AppFactory() for _ in range(3))
    factories.MemberFactory(app=app, user=owner)
    factories.MigrationStateFactory(user=owner)
    pending = factories.ConsentRequestFactory(app=app, user=owner)
    export = factories.ExportFactory(grant__request__app=app, grant__request__user=owner)
    continuous = factories.ExportFactory(
        grant__request__app=app, grant__request__user=owner, grant__request__scope="attr.lifestyle.*",
        grant__request__refresh_policy="continuous",
    ).grant  # fmt: skip
    sandbox, other_test_app = _sandbox(owner), factories.TestAppFactory()
    for apps in (other, other_test_app):
        factories.MemberFactory(app=apps, user=stranger)
    world = World(
        bank=bank,
        owner=owner,
        stranger=stranger,
        staff=staff,
        staff_2fa=staff_2fa,
        app=app,
        vault=vault,
        pending=pending,
        grant=export.grant,
        continuous=continuous,
        receipt=_receipt(app, owner),
        sandbox=sandbox,
        strangers_app_id=other.app_id,
        strangers_test_app_id=other_test_app.app_id,
        tokens=_tokens(app, other, suspended, sandbox.app, other_test_app) | _management_tokens(owner, stranger, app),
    )
    suspended.status = "suspended"
    suspended.save()
    _with_confirmed_address(owner)
    everything_about_somebody(CANARY, neighbour)
    factories.LoggedRequestFactory(app=app)
    factories.AuditCheckpointFactory()
    invitation = factories.AppInvitationFactory(app=app, email=owner.email, pk=518_273_645)
    factories.invitation_of(owner)
    world.ids = {
        "user_id": factories.known_as(app, owner),
        "id": (connection_id := factories.ConnectionFactory(app=app).connection_id),
        "connection_id": connection_id,
        "member_id": AppMember.objects.get(app=app, user=owner).member_id,
        "request_id": pending.request_id,
        "read_id": export.grant.request.request_id,
        "grant_id": export.grant.grant_id,
        "receipt_id": world.receipt.receipt_id,
        "level": "0",
        "place": "000.p/1",
        "entry_hash": "A" * 43,
        "app_id": app.app_id,
        "app_name": app.name,
        "mcp_url": quote(f"{settings.ISSUER}/mcp", safe=""),
        "client_id": factories.OAuthClientFactory().client_id,
        "prefix": _same_prefix(app, owner),
        "thumbprint": register_key(app=app, key_id="key-1", jwk=_public_key(), by=owner).thumbprint,
        **_of_webhooks(app, pending),
        "invitation_pk": str(invitation.pk),
        "secret": invitation.secret,
        "wrapper_id": owner.key_wrappers.first().wrapper_id,
        "scope": "attr.lifestyle.food.*",
        "domain": "lifestyle",
        "segment_id": "food",
        **_of_agents(owner, app, bank),
        "document": "integrating",
        "form": "json",
        "key": "no-such-key",
        "uidb36": "1",
        "pk": str(factories.ApplicationFactory(applicant=owner, pk=618_273_645).pk),
        "digest": factories.LogoFactory().digest,
        "handle": factories.ListedPersonFactory(user=owner).handle,
        "app_label": "accounts",
        "content_type_id": "1",
        "url": "nothing",
    }
    return world


def _with_confirmed_address(person: User) -> User:
    """Whoever shows that an address is theirs may take an invitation that was sent to it."""
    EmailAddress.objects.update_or_create(user=person, email=person.email, defaults={"verified": True})
    return person


def _same_prefix(app: App, owner: User) -> str:
    """Of a token of app A, and of a management token of person A."""
    prefix: str = factories.TokenFactory(app=app).prefix
    factories.ManagementTokenFactory(user=owner, prefix=prefix)
    return prefix


def _public_key() -> dict[str, str]:
    return sealed.public_half(sealed.generate_connector_key())


def _receipt(app: App, owner: User) -> Receipt:
    """Of a request that person A denied."""
    denied = factories.ConsentRequestFactory(app=app, user=owner, scope="attr.lifestyle.fitness.*")
    decision_actions.deny(request_id=denied.request_id, by=owner)
    return Receipt.objects.get(request=denied)


def _sandbox(member: User) -> Sandbox:
    app = factories.TestAppFactory()
    factories.MemberFactory(app=app, user=member)
    person = factories.SandboxPersonFactory(app=app).user
    whose = {"app": app, "user": person}
    grant = factories.ExportFactory(
        grant__request__app=app, grant__request__user=person, grant__request__refresh_policy="continuous",
        grant__request__scope="attr.lifestyle.*",
    ).grant  # fmt: skip
    return Sandbox(app, factories.give_vault(person), factories.ConsentRequestFactory(**whose), grant)


def _tokens(app: App, other: App, suspended: App, test: App, other_test: App) -> dict[str, str]:
    made = {
        "APP": factories.TokenFactory(app=app),
        "OTHER_APP": factories.TokenFactory(app=other),
        "SUSPENDED": factories.TokenFactory(app=suspended),
        "REVOKED": factories.TokenFactory(app=app, revoked_at=timezone.now() - timedelta(minutes=1)),
        "DISCOVER": factories.TokenFactory(app=app, permissions=["discover"]),
        "REQUEST": factories.TokenFactory(app=app, permissions=["request"]),
        "READ": factories.TokenFactory(app=app, permissions=["read"]),
        "TEST_APP": factories.TokenFactory(app=test),
        "OTHER_TEST_APP": factories.TokenFactory(app=other_test),
    }
    return {name: token.secret for name, token in made.items()}


def _of_webhooks(app: App, request: ConsentRequest) -> dict[str, str]:
    """An endpoint that nothing can be sent to, and a delivery that waits for it."""
    endpoint = factories.WebhookEndpointFactory(app=app, url="https://127.0.0.1/hook", pk=918_273_645)
    notice = factories.NoticeFactory(app=app, request=request, sequence=1000)
    delivery = factories.WebhookDeliveryFactory(endpoint=endpoint, notice=notice, pk=718_273_645)
    named = {"endpoint": str(endpoint.pk), "delivery": str(delivery.pk)}
    return {f"{what}_{form}": key for what, key in named.items() for form in ("pk", "id")}


def _management_tokens(owner: User, stranger: User, app: App) -> dict[str, str]:
    """Of person A, who owns app A, and of person B, who has no part in it."""
    made = {
        "MANAGER": factories.ManagementTokenFactory(user=owner),
        "MANAGER_READ": factories.ManagementTokenFactory(user=owner, permissions={app.app_id: ["read"]}),
        "OTHER_MANAGER": factories.ManagementTokenFactory(user=stranger),
    }
    return {name: token.secret for name, token in made.items()}


def _of_agents(owner: User, app: App, bank: Aggregator) -> dict[str, str]:
    consent = factories.ProcessingConsentFactory(user=owner)
    factories.DeletionFactory(consent=consent, requested=False)
    run = factories.RunFactory(user=owner)
    for position, agent in enumerate(("brand", "core", "public", "second")):
        factories.StepFactory(run=run, position=position, agent=agent)
    item = linked(owner, bank)
    sending = factories.ActivationFactory(run=run, destination__app=app)
    return {
        "consent_id": consent.consent_id,
        "analysis_id": run.analysis_id,
        "number_pk": str(factories.PhoneNumberFactory(user=owner, pk=918_273_645).pk),
        "item_id": item.item_id,
        "link_id": factories.LinkSessionFactory(user=owner, link_token=_LINK).link_id,
        "agent": "brand",
        "destination_id": sending.destination.destination_id,
        "activation_id": sending.activation_id,
    }
