"""Every page, in both themes: nothing serious for axe, nothing for the console, nothing against the policy."""

from collections.abc import Callable

import pytest
from django.contrib import admin
from playwright.sync_api import BrowserContext, Page

from accounts.models import User
from tests.browser.visiting import Complaints, axe_findings
from tests.factories import ConsentRequestFactory, ExportFactory, GrantFactory, PersonFactory, StaffFactory, give_vault

ROOMS = ("accounts", "pkm", "developers", "consent")

pytestmark = pytest.mark.browser

SIGNED_OUT = [
    "/", "/accounts/login/", "/accounts/signup/", "/accounts/password/reset/", "/api/docs/", "/docs/errors",
    "/consent/verify/",
]  # fmt: skip
OWNERS = [
    "/consent/", "/consent/grants/", "/consent/history/", "/vault/", "/account/security/",
    "/accounts/email/", "/accounts/password/change/",
]  # fmt: skip


def look(page: Page, path: str) -> list[str]:
    answer = page.goto(path)
    assert answer is not None
    page.wait_for_load_state("networkidle")
    return [f"{path}: {answer.status}"] * (answer.status != 200) + [f"{path}: {line}" for line in axe_findings(page)]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_before_signing_in_are_sound(new_profile: Callable[..., BrowserContext], theme: str) -> None:
    page = new_profile(color_scheme=theme).new_page()

    assert [line for path in SIGNED_OUT for line in look(page, path)] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_of_somebody_with_requests_and_grants_are_sound(
    new_profile: Callable[..., BrowserContext], sign_in: Callable[[Page, User], None], theme: str
) -> None:
    owner = PersonFactory()
    give_vault(owner)
    pending = ConsentRequestFactory(user=owner)
    decided = ExportFactory(grant=GrantFactory(request__user=owner, request__status="approved")).grant.request
    page = new_profile(color_scheme=theme).new_page()
    sign_in(page, owner)

    reviews = [f"/consent/requests/{request.request_id}/" for request in (pending, decided)]
    assert [line for path in [*OWNERS, *reviews] for line in look(page, path)] == []


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
    page.wait_for_timeout(200)

    assert [finding.split()[0] for finding in axe_findings(page)] == ["image-alt"]
    noticed = "\n".join(complaints.lines)
    assert "policy violation: style-src" in noticed
    assert "policy violation: require-trusted-types-for" in noticed
    assert "uncaught" in noticed
    complaints.lines.clear()
