"""What the document's examples speak of, made real: one app, one person, and everybody who may call."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.management.color import no_style
from django.db import connection
from django.db.models import Model

from accounts.models import User
from agents_proxy.processing_consent import actions as consents
from consent import shapes
from consent.notices.models import NoticeCounter, WebhookDelivery
from developers.manage.schemas import EXAMPLE_PREFIX
from developers.models import App, AppPerson
from developers.tokens.format import new_token
from developers.webhooks.models import WebhookEndpoint
from tests import factories
from tests.agents_proxy.proxy_calls import EVERY_PURPOSE
from tests.callers import signed_in

SITE = "https://trips.example"
WEBHOOKS = "https://127.0.0.1:9/hooks"  # which nothing is ever sent to
ANALYSIS_ID = "ana_4tx2mjm3cwi6q7ez"


@dataclass(frozen=True)
class Caller:
    """What a call is sent with; `schemes` are those of the document's security schemes that it fulfils."""

    name: str
    schemes: frozenset[str] = frozenset()
    headers: dict[str, str] | None = None
    params: dict[str, str] | None = None
    cookies: dict[str, str] | None = None

    def is_let_in(self, security: list[dict[str, Any]]) -> bool:
        """Whether an operation with this `security` may answer this caller with anything but a refusal."""
        return not security or any(set(required) <= self.schemes for required in security)


def _bearer(name: str, token: str, *schemes: str) -> Caller:
    return Caller(name, frozenset(schemes), headers={"Authorization": f"Bearer {token}"})


def callers_of(mode: str) -> list[Caller]:
    """Make the story of an app in this mode true; everybody who calls in it."""
    return _callers(_app(mode), mode)


def _app(mode: str) -> App:
    made = factories.TestAppFactory if mode == "test" else factories.AppFactory
    app: App = made(app_id=shapes.EXAMPLE_APP_ID)
    if mode == "test":
        person = factories.PersonFactory(public_id=shapes.EXAMPLE_USER_ID)
        factories.SandboxPersonFactory(app=app, user=person)
    else:
        person = factories.AppPersonFactory(app=app, pairwise_id=shapes.EXAMPLE_USER_ID).user
    factories.give_vault(person)
    request = factories.ConsentRequestFactory(
        app=app, user=person, request_id=shapes.EXAMPLE_REQUEST_ID, status="approved"
    )
    factories.ExportFactory(grant__request=request, grant__grant_id=shapes.EXAMPLE_GRANT_ID)
    factories.ReceiptFactory(request=request, receipt_id=shapes.EXAMPLE_RECEIPT_ID)
    factories.AuditCheckpointFactory()
    notice = factories.NoticeFactory(request=request)
    NoticeCounter.objects.create(app=app, sequence=notice.sequence)
    endpoint = factories.WebhookEndpointFactory(pk=12, app=app, url=WEBHOOKS)
    factories.WebhookDeliveryFactory(pk=4711, notice=notice, endpoint=endpoint)
    _count_on(WebhookEndpoint, WebhookDelivery)
    return app


def _count_on(*models: type[Model]) -> None:
    """The next numbers come after those that were chosen here, which PostgreSQL's counters know nothing of."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)


def _callers(app: App, mode: str) -> list[Caller]:
    person = AppPerson.objects.get(pairwise_id=shapes.EXAMPLE_USER_ID).user
    owner = factories.MemberFactory(app=app).user
    own = factories.TokenFactory(app=app, minted=new_token(mode, EXAMPLE_PREFIX)).secret
    other = factories.TokenFactory(app=factories.AppFactory() if mode == "test" else factories.TestAppFactory()).secret
    unknown = [new_token(kind)[0] for kind in ("live", "mgmt")]
    found = [
        _bearer(f"a {mode} token", own, "bearer", "query"),
        Caller(f"a {mode} token in the query", frozenset({"bearer", "query"}), params={"token": own}),
        _bearer("the token of another app in the other mode", other, "bearer", "query"),
        _bearer("a management token", factories.ManagementTokenFactory(user=owner).secret, "management"),
        _bearer("a management token of somebody else", factories.ManagementTokenFactory().secret, "management"),
        _bearer("an unknown token", unknown[0]),
        _bearer("an unknown management token", unknown[1]),
        _bearer("no token at all", "crlive"),
        Caller("nobody"),
    ]
    return found if mode == "test" else [*found, *_agents_callers(app, person)]


def _agents_callers(app: App, person: User) -> list[Caller]:
    """The person's own page, the same without its CSRF token, and another site's backend."""
    factories.PhoneNumberFactory(user=person)
    own = consents.give(by=person, purposes=EVERY_PURPOSE)
    run = factories.RunFactory(user=person, consent=own, analysis_id=ANALYSIS_ID)
    factories.StepFactory(run=run)
    factories.ItemFactory(user=person, consent=own)
    app.origins = [SITE]
    app.save(update_fields=["origins"])
    token = consents.give_to_site(by=person, purposes=EVERY_PURPOSE, app=app, origin=SITE)
    cookies = {
        settings.SESSION_COOKIE_NAME: signed_in(person).client.cookies[settings.SESSION_COOKIE_NAME].value,
        settings.CSRF_COOKIE_NAME: "x" * 32,
    }
    page = frozenset({"session", "csrf"})
    return [
        Caller("a page of the person", page, headers={"X-CSRFToken": "x" * 32}, cookies=cookies),
        Caller("a page without its CSRF token", frozenset({"session"}), cookies=cookies),
        Caller("a site with a consent", frozenset({"agentConsent"}), headers={"A2A-Consent": token.secret}),
        Caller("a site with an unknown consent", headers={"A2A-Consent": "x" * 43}),
    ]
