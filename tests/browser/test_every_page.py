"""Every page, in both themes: nothing serious for axe, nothing for the console, nothing against the policy."""

from collections.abc import Callable

import pytest
from django.contrib import admin
from playwright.sync_api import Page

from accounts.models import User
from tests.browser.page_faults import THEMES, Complaints, axe_findings, axe_findings_in, faults_at
from tests.factories import (
    AppAuditEntryFactory,
    ConsentRequestFactory,
    ExportFactory,
    GrantFactory,
    ManagementTokenFactory,
    MemberFactory,
    PersonFactory,
    StaffFactory,
    TestAppFactory,
    TokenFactory,
    WebhookDeliveryFactory,
    WebhookEndpointFactory,
    give_vault,
)
from tests.forms import Form

ROOMS = ("accounts", "pkm", "developers", "consent")

pytestmark = pytest.mark.browser

SIGNED_OUT = [
    "/", "/accounts/login/", "/accounts/signup/", "/accounts/password/reset/", "/api/docs/", "/docs/errors",
    "/docs/", "/docs/integrating/", "/docs/lifecycle/", "/docs/quick-start/",
    "/consent/verify/",
]  # fmt: skip
OWNERS = [
    "/consent/", "/consent/grants/", "/consent/history/", "/vault/", "/account/security/",
    "/accounts/email/", "/accounts/password/change/", "/developers/applications/new/",
]  # fmt: skip


@pytest.mark.long("every page; in short a third of them, another each day")
@pytest.mark.slow("axe reads each of the pages twice in a browser, light and dark")
def test_pages_before_signing_in_are_sound(page: Page, form: Form) -> None:
    assert [line for path in form.part(SIGNED_OUT, 3) for line in faults_at(page, path)] == []


PORTAL = [
    "/developers/", "/developers/apps/{app_id}/", "/developers/apps/{app_id}/tokens/",
    "/developers/apps/{app_id}/tokens/{prefix}/rotate/", "/developers/apps/{app_id}/tokens/{prefix}/revoke/",
    "/developers/apps/{app_id}/settings/", "/developers/apps/{app_id}/settings/close/",
    "/developers/apps/{app_id}/audit/", "/developers/management-tokens/",
    "/developers/management-tokens/{prefix}/revoke/", "/developers/apps/{app_id}/log/",
    "/developers/apps/{app_id}/limits/", "/developers/apps/{app_id}/members/",
    "/developers/apps/{app_id}/webhooks/",
    "/developers/apps/{app_id}/webhooks/{endpoint_pk}/", "/developers/apps/{app_id}/webhooks/{endpoint_pk}/delete/",
    "/developers/apps/{app_id}/keys/",
]  # fmt: skip


@pytest.mark.long("every page; in short a third of them, another each day")
@pytest.mark.slow("axe reads each of the pages twice in a browser, light and dark")
def test_pages_of_the_portal_are_sound(page: Page, sign_in: Callable[[Page, User], None], form: Form) -> None:
    member = MemberFactory(app=TestAppFactory())
    prefix = TokenFactory(app=member.app, created_by=member.user).prefix
    ManagementTokenFactory(user=member.user, prefix=prefix)
    AppAuditEntryFactory(app=member.app, member=member.user, facts={"label": "tests", "prefix": prefix})
    sign_in(page, member.user)

    endpoint = WebhookEndpointFactory(app=member.app)
    WebhookDeliveryFactory(endpoint=endpoint)
    ConsentRequestFactory(app=member.app)
    parts = {"app_id": member.app.app_id, "prefix": prefix, "endpoint_pk": endpoint.pk}
    paths = [path.format(**parts) for path in PORTAL]
    assert [line for path in form.part(paths, 3) for line in faults_at(page, path)] == []


@pytest.mark.long("every page; in short a third of them, another each day")
@pytest.mark.slow("axe reads each of the pages twice in a browser, light and dark")
def test_pages_of_somebody_with_requests_and_grants_are_sound(
    page: Page, sign_in: Callable[[Page, User], None], form: Form
) -> None:
    owner = PersonFactory()
    give_vault(owner)
    pending = ConsentRequestFactory(user=owner)
    decided = ExportFactory(grant=GrantFactory(request__user=owner, request__status="approved")).grant.request
    sign_in(page, owner)

    reviews = [f"/consent/requests/{request.request_id}/" for request in (pending, decided)]
    assert [line for path in form.part([*OWNERS, *reviews], 3) for line in faults_at(page, path)] == []


def test_every_list_of_the_admin_is_sound(page: Page, sign_in: Callable[[Page, User], None]) -> None:
    sign_in(page, StaffFactory())
    ours = [model._meta for model in admin.site._registry if model._meta.app_label in ROOMS]

    statuses = {
        meta.model_name: page.goto(f"/admin/{meta.app_label}/{meta.model_name}/").status  # type: ignore[union-attr]
        for meta in ours
    }
    assert len(ours) >= 5
    assert set(statuses.values()) == {200}, statuses


def test_a_page_with_a_fault_is_noticed(page: Page, complaints: Complaints) -> None:
    page.goto("/")
    page.evaluate("document.body.append(document.createElement('img'))")
    page.evaluate("document.body.setAttribute('style', 'color: red')")
    page.evaluate("setTimeout(() => { document.body.innerHTML = '<p>' })")
    for _ in range(600):
        if any("uncaught" in line for line in complaints.lines):
            break
        page.wait_for_timeout(50)

    assert [finding.split()[0] for finding in axe_findings(page)] == ["image-alt"]
    noticed = "\n".join(complaints.lines)
    assert "policy violation: style-src" in noticed
    assert "policy violation: require-trusted-types-for" in noticed
    assert "uncaught" in noticed
    complaints.lines.clear()


def test_a_fault_of_one_theme_is_told_with_its_name(page: Page) -> None:
    page.goto("/")
    page.evaluate("""() => {
      const faint = new CSSStyleSheet();
      faint.replaceSync("@media (prefers-color-scheme: dark) { h1 { color: #222 !important } }");
      document.adoptedStyleSheets = [faint];
    }""")

    assert [finding.split()[:2] for finding in axe_findings_in(THEMES, page)] == [["dark:", "color-contrast"]]
