"""Apps and who stands behind them."""

import base64
import hashlib
import os
from datetime import timedelta
from typing import Any

import factory
from django.utils import timezone
from factory.django import DjangoModelFactory

from common import encryption
from developers.models import (
    App,
    ApplicationStatus,
    AppMember,
    DeveloperApplication,
    DeveloperToken,
    IdempotencyKey,
    MemberRole,
    WebhookEndpoint,
)
from developers.tokens import new_token
from tests.factories.accounts import PersonFactory, StaffFactory


class ApplicationFactory(DjangoModelFactory):
    """An enrolment that staff approved; what else than ways of living the app asks for exceeds what it registered."""

    class Meta:
        model = DeveloperApplication

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


class AppFactory(DjangoModelFactory):
    """An active, verified app."""

    class Meta:
        model = App

    application = factory.SubFactory(ApplicationFactory, name=factory.SelfAttribute("..name"))
    name = factory.Sequence(lambda number: f"Trip Planner {number}")
    verified = True


class MemberFactory(DjangoModelFactory):
    class Meta:
        model = AppMember

    app = factory.SubFactory(AppFactory)
    user = factory.SubFactory(PersonFactory)
    role = MemberRole.OWNER


class TokenFactory(DjangoModelFactory):
    """A token of all permissions; the token itself is at `made.secret`, which the record does not keep."""

    class Meta:
        model = DeveloperToken

    app = factory.SubFactory(AppFactory)
    minted = factory.LazyFunction(new_token)
    prefix = factory.LazyAttribute(lambda made: made.minted[1])
    digest = factory.LazyAttribute(lambda made: made.minted[2])
    label = "tests"
    created_by = factory.SelfAttribute("app.application.applicant")

    @classmethod
    def _create(cls, model_class: Any, *args: Any, minted: tuple[str, str, str], **kwargs: Any) -> DeveloperToken:
        token: DeveloperToken = super()._create(model_class, *args, **kwargs)
        token.secret = minted[0]
        return token


class IdempotencyKeyFactory(DjangoModelFactory):
    class Meta:
        model = IdempotencyKey

    app = factory.SubFactory(AppFactory)
    operation = "request-consent"
    key = factory.Sequence(lambda number: f"key-{number}")
    body_digest = factory.LazyAttribute(lambda made: hashlib.sha256(made.key.encode()).hexdigest())
    answer = factory.LazyFunction(dict)
    expires_at = factory.LazyFunction(lambda: timezone.now() + timedelta(hours=24))


class WebhookEndpointFactory(DjangoModelFactory):
    """An address that nobody answers at; its secret is kept as it is in a deployment: encrypted."""

    class Meta:
        model = WebhookEndpoint

    app = factory.SubFactory(AppFactory)
    url = factory.Sequence(lambda number: f"https://trips.example/hooks/{number}")
    secret = factory.LazyFunction(lambda: encryption.sealed("whsec_" + base64.b64encode(os.urandom(32)).decode()))
