"""Apps and who stands behind them."""

import base64
import hashlib
import os
from datetime import timedelta
from typing import Any

import factory
from django.utils import timezone
from factory.django import DjangoModelFactory

from accounts.models import User
from common import encryption
from common.identifiers import new_identifier
from consent.sandbox.models import SandboxPerson
from developers.members.invitation_links import new_secret
from developers.models import (
    App,
    AppAuditEntry,
    AppInvitation,
    ApplicationStatus,
    AppMember,
    AppMode,
    AppPerson,
    DeveloperApplication,
    DeveloperToken,
    IdempotencyKey,
    LoggedRequest,
    Logo,
    ManagementToken,
    MemberRole,
    OAuthClient,
    OAuthSecret,
    WebhookEndpoint,
)
from developers.tokens.format import new_token
from tests.factories.accounts import PersonFactory, StaffFactory
from tests.factories.making import makes


class ApplicationFactory(makes(DeveloperApplication)):
    """An enrolment that staff approved; what else than ways of living the app asks for exceeds what it registered."""

    applicant = factory.SubFactory(PersonFactory)
    name = factory.Sequence(lambda number: f"Trip Planner {number}")
    legal_name = factory.LazyAttribute(lambda made: f"{made.name} GmbH")
    website = "https://trips.example"
    privacy_policy = "https://trips.example/privacy"
    contact_email = "privacy@trips.example"
    use_case = "Suggest places to eat on a journey."
    needed_scopes = factory.LazyFunction(lambda: ["attr.lifestyle.*"])
    status = ApplicationStatus.APPROVED
    reviewer = factory.SubFactory(StaffFactory)
    reviewed_at = factory.LazyFunction(timezone.now)


class AppFactory(makes(App)):
    """An active, verified app."""

    application = factory.SubFactory(ApplicationFactory, name=factory.SelfAttribute("..name"))
    name = factory.Sequence(lambda number: f"Trip Planner {number}")
    verified = True


class TestAppFactory(makes(App)):
    """An app that needs no staff: it reaches its sandbox people and the members who agreed."""

    __test__ = False  # of pytest's

    name = factory.Sequence(lambda number: f"Trip Planner {number} (test)")
    mode = AppMode.TEST


class MemberFactory(makes(AppMember)):
    app = factory.SubFactory(AppFactory)
    user = factory.SubFactory(PersonFactory)
    role = MemberRole.OWNER


class _Minted(DjangoModelFactory):
    """A token: itself it is at `made.secret`, which the record does not keep."""

    class Meta:
        abstract = True

    prefix = factory.LazyAttribute(lambda made: made.minted[1])
    digest = factory.LazyAttribute(lambda made: made.minted[2])
    label = "tests"

    @classmethod
    def _create(cls, model_class: Any, *args: Any, minted: tuple[str, str, str], **kwargs: Any) -> Any:
        token = super()._create(model_class, *args, **kwargs)
        token.secret = minted[0]
        return token


class TokenFactory(_Minted):
    """A token of all permissions."""

    class Meta:
        model = DeveloperToken

    app = factory.SubFactory(AppFactory)
    minted = factory.LazyAttribute(lambda made: new_token(made.app.mode))
    created_by = factory.LazyAttribute(
        lambda made: made.app.application.applicant if made.app.application else PersonFactory()
    )


class PersonalAppFactory(makes(App)):
    """A host that somebody connected for themselves."""

    name = factory.Sequence(lambda number: f"Assistant {number}")
    mode = AppMode.PERSONAL
    person = factory.SubFactory(PersonFactory)


class OAuthClientFactory(makes(OAuthClient)):
    """A host that registered itself."""

    client_id = factory.LazyFunction(lambda: new_identifier("client"))
    name = factory.Sequence(lambda number: f"Assistant {number}")
    redirect_uris = factory.LazyFunction(lambda: ["http://127.0.0.1/callback"])


class HostTokenFactory(TokenFactory):
    """What somebody allowed a host that acts as a personal app of theirs; `made.secret` opens nothing."""

    app = factory.SubFactory(PersonalAppFactory)
    created_by = factory.SelfAttribute("app.person")
    minted = factory.LazyFunction(lambda: new_token("oauth"))
    client = factory.SubFactory(OAuthClientFactory)
    label = factory.SelfAttribute("client.name")
    header_only = True
    resource = "http://localhost:8000/mcp"


class OAuthSecretFactory(makes(OAuthSecret)):
    """A refresh token that nobody has."""

    kind = "refresh"
    token = factory.SubFactory(HostTokenFactory)
    digest = factory.LazyFunction(lambda: new_token("refresh")[2])
    expires_at = factory.LazyFunction(lambda: timezone.now() + timedelta(days=30))


class IdempotencyKeyFactory(makes(IdempotencyKey)):
    app = factory.SubFactory(AppFactory)
    operation = "request-consent"
    key = factory.Sequence(lambda number: f"key-{number}")
    body_digest = factory.LazyAttribute(lambda made: hashlib.sha256(made.key.encode()).hexdigest())
    answer = factory.LazyFunction(dict)
    expires_at = factory.LazyFunction(lambda: timezone.now() + timedelta(hours=24))


class WebhookEndpointFactory(makes(WebhookEndpoint)):
    """An address that nobody answers at; its secret is kept as it is in a deployment: encrypted."""

    app = factory.SubFactory(AppFactory)
    url = factory.Sequence(lambda number: f"https://trips.example/hooks/{number}")
    secret = factory.LazyFunction(lambda: encryption.sealed("whsec_" + base64.b64encode(os.urandom(32)).decode()))


class LogoFactory(makes(Logo)):
    """A picture that is no picture: what is kept of one is looked at where it comes in alone."""

    png = factory.Sequence(lambda number: f"picture {number}".encode())
    digest = factory.LazyAttribute(lambda made: hashlib.sha256(made.png).hexdigest())


class AppAuditEntryFactory(makes(AppAuditEntry)):
    app = factory.SubFactory(AppFactory)
    member = factory.SubFactory(PersonFactory)
    action = "token.minted"
    at = factory.LazyFunction(timezone.now)


class AppInvitationFactory(makes(AppInvitation)):
    """One that waits; the link's secret is at `made.secret`, which the record does not keep."""

    link_secret = factory.LazyFunction(new_secret)
    app = factory.SubFactory(AppFactory)
    email = factory.Sequence(lambda number: f"invited{number}@example.org")
    digest = factory.LazyAttribute(lambda made: hashlib.sha256(made.link_secret.encode()).hexdigest())
    invited_by = factory.SubFactory(PersonFactory)
    expires_at = factory.LazyFunction(lambda: timezone.now() + timedelta(days=7))

    @classmethod
    def _create(cls, model_class: Any, *args: Any, link_secret: str, **kwargs: Any) -> AppInvitation:
        invitation: AppInvitation = super()._create(model_class, *args, **kwargs)
        invitation.secret = link_secret
        return invitation


class ManagementTokenFactory(_Minted):
    """A token for every app of its person."""

    class Meta:
        model = ManagementToken

    user = factory.SubFactory(PersonFactory)
    minted = factory.LazyFunction(lambda: new_token("mgmt"))
    permissions = factory.LazyFunction(lambda: {"*": ["read", "write"]})
    expires_at = factory.LazyFunction(lambda: timezone.now() + timedelta(days=30))


class LoggedRequestFactory(makes(LoggedRequest)):
    app = factory.SubFactory(AppFactory)
    at = factory.LazyFunction(timezone.now)
    method = "GET"
    route = "/api/v1/consent-status"
    status = 200
    trace_id = factory.Sequence(lambda number: f"{number:032x}")
    ms = 3


def known_as(app: App, user: User) -> str:
    """What the app calls this person, whom it met by now."""
    name: str = AppPerson.objects.get_or_create(app=app, user=user)[0].pairwise_id
    return name


class AppPersonFactory(makes(AppPerson)):
    """Somebody whom an app met."""

    app = factory.SubFactory(AppFactory)
    user = factory.SubFactory(PersonFactory)


class SandboxPersonFactory(makes(SandboxPerson)):
    """Somebody whom the developers of a test app play."""

    class Meta:
        skip_postgeneration_save = True

    app = factory.SubFactory(TestAppFactory)
    user = factory.SubFactory(PersonFactory)
    label = factory.Sequence(lambda number: f"Person {number}")

    @factory.post_generation
    def met(self: SandboxPerson, create: bool, extracted: object, **_: object) -> None:
        AppPerson.objects.get_or_create(app=self.app, user=self.user, pairwise_id=self.user.public_id)
