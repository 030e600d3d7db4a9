"""Every page: nothing serious for axe, nothing for the console, nothing against the policy."""

from collections.abc import Callable

import pytest
from django.contrib import admin
from playwright.sync_api import Page

from accounts.models import User
from consent.decisions import blocked_apps
from consent.decisions.models import AppReport
from consent.docs.documents import NAMES
from tests.factories import (
    AppAuditEntryFactory,
    AppFactory,
    AppInvitationFactory,
    ApplicationFactory,
    ConsentRequestFactory,
    DestinationFactory,
    ExportFactory,
    GrantFactory,
    ManagementTokenFactory,
    MemberFactory,
    PersonFactory,
    SandboxPersonFactory,
    StaffFactory,
    TestAppFactory,
    TokenFactory,
    WebhookDeliveryFactory,
    WebhookEndpointFactory,
    give_vault,
)
from tests.system.browser.page_faults import THEMES, Complaints, Themes, axe_findings, axe_findings_in, faults_at
from tests.system.browser.people import eventually_on

ROOMS = ("accounts", "pkm", "developers", "consent")

pytestmark = pytest.mark.browser

SIGNED_OUT = [
    "/", "/accounts/login/", "/accounts/signup/", "/accounts/password/reset/", "/api/docs/", "/docs/errors",
    "/docs/", *(f"/docs/{name}/" for name in NAMES), "/docs/security/",
    "/consent/verify/",
]  # fmt: skip
OWNERS = [
    "/consent/", "/consent/grants/", "/consent/history/", "/vault/", "/vault/changes/", "/account/security/",
    "/account/security/key/", "/accounts/email/", "/accounts/password/change/", "/developers/applications/new/",
    "/account/name/",
]  # fmt: skip


@pytest.mark.long("in both themes; in short in the light one")
def test_pages_before_signing_in_are_sound(page: Page, themes: Themes) -> None:
    assert [line for path in SIGNED_OUT for line in faults_at(page, path, themes)] == []


PORTAL = [
    "/developers/", "/developers/apps/{app_id}/", "/developers/apps/{app_id}/tokens/",
    "/developers/apps/{app_id}/tokens/{prefix}/rotate/", "/developers/apps/{app_id}/tokens/{prefix}/revoke/",
    "/developers/apps/{app_id}/settings/", "/developers/apps/{app_id}/settings/close/",
    "/developers/apps/{app_id}/audit/", "/developers/management-tokens/",
    "/developers/management-tokens/{prefix}/revoke/", "/developers/apps/{app_id}/log/",
    "/developers/apps/{app_id}/limits/", "/developers/apps/{app_id}/members/",
    "/developers/apps/{app_id}/webhooks/", "/developers/apps/{app_id}/destinations/",
    "/developers/apps/{app_id}/destinations/{destination_id}/remove/",
    "/developers/apps/{app_id}/webhooks/{endpoint_pk}/", "/developers/apps/{app_id}/webhooks/{endpoint_pk}/delete/",
    "/developers/apps/{app_id}/keys/", "/developers/apps/{app_id}/sandbox/",
    "/developers/apps/{app_id}/sandbox/{user_id}/", "/developers/apps/{app_id}/try/",
    "/developers/apps/{app_id}/try/?operation=requestConsent", "/developers/apps/{live_app_id}/try/",
    "/developers/apps/{live_app_id}/domain/", "/developers/apps/{live_app_id}/settings/",
    "/developers/applications/new/", "/developers/applications/{sent_back}/", "/developers/applications/{submitted}/",
    "/developers/invitations/{secret}/",
]  # fmt: skip


@pytest.mark.long("in both themes; in short in the light one")
def test_pages_of_the_portal_are_sound(page: Page, sign_in: Callable[[Page, User], None], themes: Themes) -> None:
    member = MemberFactory(app=TestAppFactory())
    prefix = TokenFactory(app=member.app, created_by=member.user).prefix
    ManagementTokenFactory(user=member.user, prefix=prefix)
    AppAuditEntryFactory(app=member.app, member=member.user, facts={"label": "tests", "prefix": prefix})
    sign_in(page, member.user)

    endpoint = WebhookEndpointFactory(app=member.app)
    WebhookDeliveryFactory(endpoint=endpoint)
    ConsentRequestFactory(app=member.app)
    person = SandboxPersonFactory(app=member.app).user
    ConsentRequestFactory(app=member.app, user=person)
    parts = {
        "destination_id": DestinationFactory(app=member.app).destination_id,
        "app_id": member.app.app_id, "prefix": prefix, "endpoint_pk": endpoint.pk, "user_id": person.public_id,
        "live_app_id": MemberFactory(user=member.user, app=AppFactory()).app.app_id,
        "secret": AppInvitationFactory(app=member.app).secret,
        "sent_back": ApplicationFactory(applicant=member.user, status="sent_back", note="Say how long you keep it.").pk,
        "submitted": ApplicationFactory(
            applicant=member.user, status="submitted", reviewer=None, reviewed_at=None
        ).pk,
    }  # fmt: skip
    paths = [path.format(**parts) for path in PORTAL]
    assert [line for path in paths for line in faults_at(page, path, themes)] == []


@pytest.mark.long("in both themes; in short in the light one")
def test_pages_of_somebody_with_requests_and_grants_are_sound(
    page: Page, sign_in: Callable[[Page, User], None], themes: Themes
) -> None:
    owner = PersonFactory()
    give_vault(owner)
    pending = ConsentRequestFactory(user=owner)
    decided = ExportFactory(grant=GrantFactory(request__user=owner, request__status="approved")).grant.request
    sign_in(page, owner)

    reviews = [f"/consent/requests/{request.request_id}/" for request in (pending, decided)]
    assert [line for path in [*OWNERS, *reviews] for line in faults_at(page, path, themes)] == []


def ask(page: Page, path: str, action: str) -> None:
    """What the admin asks before it does this to the first row of a list."""
    page.goto(path)
    page.locator("input.action-select").first.check()
    page.locator("select[name=action]").select_option(action)
    page.locator("#changelist-form button[name=index]").click()
    page.wait_for_load_state("networkidle")


@pytest.mark.long("in both themes; in short in the light one")
def test_what_staff_work_through_is_sound(page: Page, sign_in: Callable[[Page, User], None], themes: Themes) -> None:
    waits = ApplicationFactory(status="submitted", reviewer=None, reviewed_at=None)
    asked = ConsentRequestFactory()
    blocked_apps.report_app(app_id=asked.app.app_id, by=asked.user, text="They threaten me.")
    sign_in(page, StaffFactory())

    lists = [f"/admin/{name}/" for name in ("developers/developerapplication", "developers/app", "consent/appreport")]
    report = AppReport.objects.get()
    paths = [
        *lists,
        f"{lists[0]}{waits.pk}/change/",
        f"{lists[1]}{asked.app.pk}/change/",
        f"{lists[2]}{report.pk}/change/",
    ]
    found = [line for path in paths for line in faults_at(page, path, themes)]
    for path, action in (
        ("/admin/pkm/scopeentry/", "withdraw"), (lists[1], "suspend"), (lists[2], "take_in_hand"),
    ):  # fmt: skip
        ask(page, path, action)
        found += [f"{action}: {line}" for line in axe_findings_in(themes, page)]
    assert found == []


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
    eventually_on(page, lambda: any("uncaught" in line for line in complaints.lines), "the uncaught error")

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
