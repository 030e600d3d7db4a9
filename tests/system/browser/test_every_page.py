"""Every page: nothing serious for axe, nothing for the console, nothing against the policy."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from accounts.models import User
from consent.decisions import blocked_apps
from consent.decisions.models import AppReport
from consent.docs.pages import NAMES
from tests.access.walk import Walk
from tests.access.world import make_world, people_with_old_data
from tests.addresses import Caller, pages
from tests.factories import (
    AppAuditEntryFactory,
    ApplicationFactory,
    ConsentRequestFactory,
    ManagementTokenFactory,
    MemberFactory,
    StaffFactory,
    TestAppFactory,
    TokenFactory,
)
from tests.fakes.aggregator import CLIENT_ID, SECRET, Aggregator, aggregating
from tests.served_site import running_site
from tests.system.browser.page_faults import (
    THEMES,
    Complaints,
    Themes,
    axe_findings,
    axe_findings_in,
    faults_at,
    settling,
)
from tests.system.browser.people import eventually_on

pytestmark = pytest.mark.browser

# Django's own chooser in the form of a group has tooltips with a name that their role does not allow
_LEFT_OUT = "admin/auth/group/<path:object_id>/change/"
PAGES = [page for page in pages() if page.route != _LEFT_OUT]


@pytest.fixture(scope="module")
def bank() -> Iterator[Aggregator]:
    with aggregating() as stand_in:
        yield stand_in


@pytest.fixture(scope="module")
def running_server(django_db_setup: None, bank: Aggregator) -> Iterator[str]:
    """A server with an aggregator, without which the pages of institutions are not there."""
    known = {"AGGREGATOR_BASE_URL": bank.address, "AGGREGATOR_CLIENT_ID": CLIENT_ID, "AGGREGATOR_SECRET": SECRET}
    with running_site(**known) as address:
        yield address


@pytest.mark.long("in both themes; in short in the light one")
@pytest.mark.parametrize(
    "reader", dict.fromkeys(page.seen_by for page in PAGES), ids=lambda reader: reader.name.lower()
)
def test_pages_of_the_register_are_sound(
    reader: Caller, page: Page, sign_in: Callable[[Page, User], None], bank: Aggregator, settings: Any, themes: Themes
) -> None:
    settings.AGGREGATOR = bank.settings()
    walk = Walk(make_world(bank, *people_with_old_data()))
    somebody = {Caller.OWNER: walk.world.owner, Caller.STAFF_2FA: walk.world.staff_2fa}.get(reader)
    if somebody:
        sign_in(page, somebody)

    paths = [walk.path(address) for address in PAGES if address.seen_by is reader]
    found = [line for path in paths for line in faults_at(page, path, themes)]
    assert found == [], "\n".join(found)


@pytest.mark.long("in both themes; in short in the light one")
def test_documents_are_sound(page: Page, themes: Themes) -> None:
    assert [line for name in NAMES for line in faults_at(page, f"/docs/{name}/", themes)] == []


# the states of a test app and of an application that the register's world does not have
PORTAL = [
    "/developers/apps/{app_id}/", "/developers/apps/{app_id}/settings/", "/developers/apps/{app_id}/members/",
    "/developers/apps/{app_id}/keys/", "/developers/apps/{app_id}/try/",
    "/developers/apps/{app_id}/try/?operation=requestConsent",
    "/developers/applications/{sent_back}/", "/developers/applications/{submitted}/",
]  # fmt: skip


@pytest.mark.long("in both themes; in short in the light one")
def test_pages_of_the_portal_are_sound(page: Page, sign_in: Callable[[Page, User], None], themes: Themes) -> None:
    member = MemberFactory(app=TestAppFactory())
    prefix = TokenFactory(app=member.app, created_by=member.user).prefix
    ManagementTokenFactory(user=member.user, prefix=prefix)
    AppAuditEntryFactory(app=member.app, member=member.user, facts={"label": "tests", "prefix": prefix})
    sign_in(page, member.user)

    waits = {"status": "submitted", "reviewer": None, "reviewed_at": None}
    parts = {
        "app_id": member.app.app_id,
        "sent_back": ApplicationFactory(applicant=member.user, status="sent_back", note="Say how long you keep it.").pk,
        "submitted": ApplicationFactory(applicant=member.user, **waits).pk,
    }
    paths = [path.format(**parts) for path in PORTAL]
    assert [line for path in paths for line in faults_at(page, path, themes)] == []


def ask(page: Page, path: str, action: str) -> None:
    """What the admin asks before it does this to the first row of a list."""
    page.goto(path)
    page.locator("input.action-select").first.check()
    page.locator("select[name=action]").select_option(action)
    with settling(page):
        page.locator("#changelist-form button[name=index]").click()


@pytest.mark.long("in both themes; in short in the light one")
def test_what_staff_work_through_is_sound(page: Page, sign_in: Callable[[Page, User], None], themes: Themes) -> None:
    waits = ApplicationFactory(status="submitted", reviewer=None, reviewed_at=None)
    consent_request = ConsentRequestFactory()
    blocked_apps.report_app(app_id=consent_request.app.app_id, by=consent_request.user, text="They threaten me.")
    sign_in(page, StaffFactory())

    lists = [f"/admin/{name}/" for name in ("developers/developerapplication", "developers/app", "consent/appreport")]
    report = AppReport.objects.get()
    paths = [
        *lists,
        f"{lists[0]}{waits.pk}/change/",
        f"{lists[1]}{consent_request.app.pk}/change/",
        f"{lists[2]}{report.pk}/change/",
    ]
    found = [line for path in paths for line in faults_at(page, path, themes)]
    for path, action in (
        ("/admin/pkm/scopeentry/", "withdraw"), (lists[1], "suspend"), (lists[2], "take_in_hand"),
    ):  # fmt: skip
        ask(page, path, action)
        found += [f"{action}: {line}" for line in axe_findings_in(themes, page)]
    assert found == []


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
