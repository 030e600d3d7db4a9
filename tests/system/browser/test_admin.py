"""The staff's pages in Chromium, under the admin's own policy: no violation, no complaint, nothing that axe minds."""

import pytest
from django.conf import settings
from playwright.sync_api import Error, Page, expect

from accounts.models import User
from accounts.sign_in.sessions import SessionStore
from developers.authentication import find_token
from tests import factories
from tests.staff import give_second_factor
from tests.system.browser.page_faults import axe_findings
from tests.system.browser.people import SignIn, enter_code

pytestmark = pytest.mark.browser

INERT = [
    "<option value='1'>One</option>",
    "<div class='x'><a href='#'>go</a></div>",
    "  <table></table>",
    "<input type='checkbox' name='onion'>",
    "plain text with = in it, once upon a time",
    "<form></form><form></form>",
]
ACTIVE = [
    "<script>alert(1)</script>",
    "<SCRIPT src=//evil.example></SCRIPT>",
    "< script>",
    "<img src=x onerror=alert(1)>",
    "<img/onerror=alert(1) src=x>",
    "<img src=x onerror =alert(1)>",
    "<img src='x'onerror='alert(1)'>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href='java\u0000script:alert(1)'>x</a>",
    "<a href='&#106;avascript:alert(1)'>x</a>",
    "<a href='java&Tab;script:alert(1)'>x</a>",
    "<a href='javascript&colon;alert(1)'>x</a>",
    "<iframe srcdoc='x'></iframe>",
    "<svg><animate/></svg>",
    "<math></math>",
    "<object data='x'></object>",
    "<embed src='x'>",
    "<base href='//evil.example'>",
    "<meta http-equiv='refresh'>",
    "<form action='//evil.example'>",
    "<button formaction='//evil.example'>",
    "<style>*{}</style>",
    "<p style='color:red'>",
]


@pytest.fixture
def staff(site: str) -> User:
    made: User = factories.StaffFactory()
    return made


def test_lists_in_other_states_are_sound(page: Page, staff: User, sign_in: SignIn) -> None:
    sign_in(page, staff)
    for address in (
        "/admin/pkm/", "/admin/pkm/scopeentry/add/", "/admin/consent/scopetemplate/add/",
        "/admin/developers/developertoken/add/", "/admin/pkm/scopeentry/?starter=differs",
        "/admin/pkm/scopeentry/?sensitivity_tier__exact=restricted",
    ):  # fmt: skip
        page.goto(address)
        assert axe_findings(page) == [], address


def test_token_is_made_and_shown_once(page: Page, staff: User, sign_in: SignIn) -> None:
    app = factories.AppFactory()
    sign_in(page, staff, at="/admin/developers/developertoken/add/")
    page.locator("#id_app").select_option(str(app.pk))
    page.locator("#id_label").fill("backend")
    page.get_by_role("button", name="Save", exact=True).click()
    token = page.get_by_label("Developer token").input_value()
    assert axe_findings(page) == []
    found = find_token(token)
    assert found is not None
    assert found.app_id == app.app_id
    page.get_by_role("link", name="I have copied it").click()
    expect(page.get_by_label("Developer token")).to_be_hidden()
    assert token not in page.content()


def test_what_was_sent_too_late_is_done_after_the_code(page: Page, staff: User, sign_in: SignIn) -> None:
    app = factories.AppFactory()
    sign_in(page, staff, at="/admin/developers/app/")
    _let_ten_minutes_pass(page)
    page.locator("input[name=_selected_action]").check()
    page.locator("select[name=action]").select_option("suspend")
    page.locator("button[name=index]").click()
    page.wait_for_url("**/accounts/2fa/reauthenticate/**")
    assert axe_findings(page) == []
    enter_code(page, give_second_factor(staff))
    expect(page.locator("#content h1")).to_have_text("Do this now?")
    expect(page.locator("#content strong")).to_contain_text("Suspend")
    assert axe_findings(page) == []
    page.get_by_role("button", name="Yes, do it").click()
    page.get_by_label("Note").fill("They pretend to be a bank.")
    assert axe_findings(page) == []
    page.get_by_role("button", name="Suspend the app").click()
    expect(page.locator(".messagelist .success")).to_have_text("1 app was suspended.")
    app.refresh_from_db()
    assert app.status == "suspended"


def _let_ten_minutes_pass(page: Page) -> None:
    """For this session's confirmations; nothing else gets older."""
    (key,) = (cookie["value"] for cookie in page.context.cookies() if cookie["name"] == settings.SESSION_COOKIE_NAME)
    session = SessionStore(key)
    records = session["account_authentication_methods"]
    session["account_authentication_methods"] = [{**record, "at": record["at"] - 601} for record in records]
    session.save()


def test_markup_enters_the_page_only_where_it_is_inert(page: Page, staff: User, sign_in: SignIn) -> None:
    sign_in(page, staff, at="/admin/")
    put = "markup => { document.createElement('div').innerHTML = markup }"
    for markup in INERT:
        page.evaluate(put, markup)
    for markup in ACTIVE:
        with pytest.raises(Error, match="not inert"):
            page.evaluate(put, markup)


def test_no_script_enters_the_admin_from_a_string(
    page: Page, staff: User, sign_in: SignIn, complaints: "object"
) -> None:
    sign_in(page, staff, at="/admin/")
    for attempt in (
        "() => { document.createElement('script').src = '/static/js/shell.js' }",
        "() => { document.createElement('script').text = 'alert(1)' }",
        "() => { trustedTypes.createPolicy('another', {}) }",
        "() => { trustedTypes.createPolicy('default', {}) }",
    ):
        with pytest.raises(Error):
            page.evaluate(attempt)
    page.goto("/admin/pkm/")  # what the last page had to say has been said
    complaints.lines.clear()  # type: ignore[attr-defined]  # the violations just provoked
