"""Who may see what waits, how long, how much of it; and what another site or another person could try."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.interrupted import unconfirmed_forms
from accounts.interrupted.page_forms import PAGE_FIELD
from accounts.models import User
from consent.decisions import actions as decision_actions
from consent.decisions.models import AppReport
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from pkm.vault.models import KeyWrapper
from tests.callers import signed_in
from tests.factories import (
    AppFactory,
    ConsentRequestFactory,
    GrantFactory,
    PersonFactory,
    PhoneNumberFactory,
    give_vault,
)
from tests.interrupted.plain_browser import OWN, Browser, form_to, waiting_titles

pytestmark = pytest.mark.django_db
NOTE = "Not before the trip, said Maria"


@pytest.fixture
def consent_request(person: User) -> ConsentRequest:
    made: ConsentRequest = ConsentRequestFactory(user=person)
    return made


def path_of(consent_request: ConsentRequest) -> str:
    return f"/consent/requests/{consent_request.request_id}/deny/"


@pytest.fixture
def interrupted_denial(consent_request: ConsentRequest) -> Browser:
    """Somebody pressed Deny, with a note, and is in front of the sign-in."""
    browser = Browser()
    browser.sign_in(consent_request.user)
    browser.open(f"/consent/requests/{consent_request.request_id}/")
    browser.end_session()
    browser.press(path_of(consent_request), {"reason": NOTE})
    return browser


def cookie_of(browser: Browser) -> str:
    return browser.client.cookies["interrupted"].value if "interrupted" in browser.client.cookies else ""


def test_the_cookie_is_for_this_browser_alone_short_lived_and_unreadable(interrupted_denial: Browser) -> None:
    morsel = interrupted_denial.client.cookies["interrupted"]

    assert (morsel["httponly"], morsel["samesite"], morsel["max-age"], morsel["path"]) == (True, "Lax", 30 * 60, "/")
    assert "said Maria" not in morsel.value
    assert "requests" not in morsel.value
    assert "Maria" not in interrupted_denial.text


def test_over_https_it_is_bound_to_this_very_host(settings: Any, consent_request: ConsentRequest) -> None:
    settings.SESSION_COOKIE_SECURE = True
    browser = Browser()
    browser.client.defaults["wsgi.url_scheme"] = "https"
    browser.client.force_login(consent_request.user)
    browser.open(f"/consent/requests/{consent_request.request_id}/")
    browser.end_session()
    browser.press(path_of(consent_request), {}, follow=False)
    assert browser.client.cookies["__Host-interrupted"]["secure"] is True
    assert browser.client.cookies["__Host-interrupted"]["domain"] == ""


def test_another_person_who_signs_in_sees_nothing_and_ends_it(
    interrupted_denial: Browser, consent_request: ConsentRequest
) -> None:
    interrupted_denial.sign_in(PersonFactory(), interrupted_denial.path)
    assert waiting_titles(interrupted_denial.answer) == []
    assert "Maria" not in interrupted_denial.text

    interrupted_denial.end_session()
    interrupted_denial.sign_in(consent_request.user)

    assert waiting_titles(interrupted_denial.open(f"/consent/requests/{consent_request.request_id}/")) == []


def test_nothing_is_done_by_looking_or_by_signing_in(
    interrupted_denial: Browser, consent_request: ConsentRequest
) -> None:
    interrupted_denial.sign_in(consent_request.user, interrupted_denial.path)
    for path in ("/consent/", "/vault/setup/", "/account/security/", path_of(consent_request)):
        interrupted_denial.open(path)

    consent_request.refresh_from_db()
    assert consent_request.status == "pending"
    assert waiting_titles(interrupted_denial.open("/consent/")) == [
        f"Deny: {consent_request.app_name}"
    ]  # wherever the way leads


def test_leaving_it_drops_it_and_does_nothing(interrupted_denial: Browser, consent_request: ConsentRequest) -> None:
    interrupted_denial.sign_in(consent_request.user, interrupted_denial.path)
    form = form_to(interrupted_denial.answer, path_of(consent_request))
    name, value, leave = next(button for button in form.buttons if button[2])

    interrupted_denial.send(leave, {**form.fields, name: value})

    assert interrupted_denial.path == f"/consent/requests/{consent_request.request_id}/"
    assert waiting_titles(interrupted_denial.answer) == []
    consent_request.refresh_from_db()
    assert consent_request.status == "pending"


def test_leaving_takes_a_button_and_a_token(owner: Any) -> None:
    assert owner.client.get("/account/waiting/leave/").status_code == 405
    assert Client(enforce_csrf_checks=True).post("/account/waiting/leave/", {"leave": "x"}).status_code == 403
    assert owner.client.post("/account/waiting/leave/", {"leave": "x"})["Location"] == "/consent/"


def test_it_ends_after_half_an_hour(interrupted_denial: Browser, consent_request: ConsentRequest) -> None:
    with time_machine.travel(timezone.now() + timedelta(minutes=31)):
        interrupted_denial.client.cookies["interrupted"]["expires"] = ""  # a browser that keeps it nevertheless
        interrupted_denial.sign_in(consent_request.user)
        assert waiting_titles(interrupted_denial.open("/consent/")) == []


def test_what_was_decided_meanwhile_is_not_decided_twice(
    interrupted_denial: Browser, consent_request: ConsentRequest
) -> None:
    decision_actions.deny(request_id=consent_request.request_id, by=consent_request.user, reason="Decided on the phone")
    interrupted_denial.sign_in(consent_request.user, interrupted_denial.path)
    interrupted_denial.press(path_of(consent_request), {})

    assert interrupted_denial.answer.status_code == 200
    assert "This request was decided already. Nothing was changed now." in interrupted_denial.text
    assert waiting_titles(interrupted_denial.answer) == []
    consent_request.refresh_from_db()
    assert consent_request.decision_note == "Decided on the phone"


def test_what_is_gone_meanwhile_is_answered_with_a_page_and_waits_no_longer(person: User) -> None:
    number = PhoneNumberFactory(user=person)
    browser, path = Browser(), f"/profile/numbers/{number.pk}/forget/"
    browser.sign_in(person)
    browser.open("/profile/numbers/")
    browser.end_session()
    browser.press(path, {})
    browser.sign_in(person, browser.path)
    number.delete()

    browser.press(path, {})

    assert (browser.answer.status_code, "<h1" in browser.text) == (404, True)
    assert waiting_titles(browser.open("/profile/numbers/")) == []


@pytest.mark.parametrize("value", ["", "x", "gAAAAA", "A" * 5000, "gAAAAABm" + "A" * 200])
def test_a_cookie_of_somebody_elses_making_is_nothing(owner: Any, value: str) -> None:
    owner.client.cookies["interrupted"] = value
    assert owner.client.get("/consent/").status_code == 200


def test_a_cookie_that_another_browser_was_given_shows_nobody_elses(interrupted_denial: Browser, person: User) -> None:
    stranger = Browser()
    stranger.client.cookies["interrupted"] = cookie_of(interrupted_denial)
    stranger.sign_in(PersonFactory())
    assert waiting_titles(stranger.open("/consent/")) == []


# --- another site -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "same-site", "Origin": "https://app.testserver"},
        {"Sec-Fetch-Site": "none", "Origin": "null"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {},
    ],
    ids=str,
)
@pytest.mark.parametrize("signed_in", [True, False], ids=["signed in", "signed out"])
def test_a_form_of_another_site_neither_does_anything_nor_waits(
    consent_request: ConsentRequest, headers: dict[str, str], signed_in: bool
) -> None:
    browser = Browser()
    if signed_in:
        browser.client.force_login(consent_request.user)
    answer = browser.client.post(path_of(consent_request), {"reason": "planted"}, headers=headers)

    assert answer.status_code in (302, 403)
    assert "planted" not in answer.content.decode()
    assert cookie_of(browser) == ""
    consent_request.refresh_from_db()
    assert consent_request.status == "pending"


def test_whose_page_it_was_cannot_be_made_up(consent_request: ConsentRequest) -> None:
    browser = Browser()
    made_up = {PAGE_FIELD: f"{consent_request.user.public_id}:abc", "reason": "planted"}
    for headers in ({}, OWN):
        answer = browser.client.post(path_of(consent_request), made_up, headers=headers)
        assert (answer.status_code, cookie_of(browser)) == (403, "")
    browser.open("/accounts/login/")  # with a token of its own, too
    token = form_to(browser.answer, "/accounts/login/").fields["csrfmiddlewaretoken"]
    answer = browser.client.post(path_of(consent_request), {**made_up, "csrfmiddlewaretoken": token}, headers=OWN)
    assert (answer.status_code, cookie_of(browser)) == (302, "")


def test_the_page_of_whoever_was_here_before_is_not_confirmed_by_the_next(consent_request: ConsentRequest) -> None:
    browser = Browser()
    browser.sign_in(consent_request.user)
    browser.open(f"/consent/requests/{consent_request.request_id}/")
    left_open = browser.answer
    browser.open("/consent/")  # in another tab: the sheet itself leads nowhere else
    browser.send("/accounts/logout/", form_to(browser.answer, "/accounts/logout/").fields)
    browser.sign_in(PersonFactory())

    form = form_to(left_open, path_of(consent_request))
    answer = browser.send(path_of(consent_request), {**form.fields, "reason": NOTE})

    assert answer.status_code == 403
    assert "Maria" not in browser.text
    consent_request.refresh_from_db()
    assert consent_request.status == "pending"


@pytest.mark.parametrize("page", ["//evil.example/", "https://evil.example/", "/consent/grants/x/stop/", "/nowhere"])
def test_the_way_back_is_a_page_of_ours(page: str, consent_request: ConsentRequest) -> None:
    """`next` can be typed by anybody: it leads to no other site, and never by GET to what takes only a POST."""
    browser = Browser()
    browser.sign_in(consent_request.user, f"/accounts/login/?next={page}")
    assert browser.path in ("/consent/", "/consent/apps/", "/nowhere")


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "POST"])
def test_any_method_at_a_page_leads_back_to_a_page(client: Client, person: User, method: str) -> None:
    answer = client.generic(method, "/consent/grants/")
    assert (answer.status_code, answer["Location"]) == (302, "/accounts/login/?next=/consent/grants/")


@pytest.mark.parametrize("address", ["stop", "pause", "keep"])
def test_looking_at_an_address_of_a_button_is_a_page_for_everybody(client: Client, person: User, address: str) -> None:
    for visitor, way in ((client, "/accounts/login/"), (signed_in(person).client, "/consent/apps/")):
        answer = visitor.get(f"/consent/grants/grt_x/{address}/")
        assert (answer.status_code, answer["Allow"]) == (405, "POST")
        assert f'href="{way}"' in answer.content.decode().partition("<main")[2]


# --- several, and large ones ------------------------------------------------------------------------------------------


def test_several_wait_side_by_side_and_the_same_one_once(person: User) -> None:
    app = AppFactory()
    grants = [GrantFactory(request__user=person, request__app=app, scope=f"attr.food{n}.*") for n in range(3)]
    browser, here = Browser(), f"/consent/apps/{app.app_id}/"
    browser.sign_in(person)
    page = browser.open(here)
    browser.end_session()
    for grant in (*grants, grants[0]):
        path = f"/consent/grants/{grant.grant_id}/stop/"
        browser.send(path, form_to(page, path).fields)
    browser.sign_in(person, browser.path)

    assert len(waiting_titles(browser.answer)) == 3
    path = f"/consent/grants/{grants[1].grant_id}/stop/"
    browser.press(path, {})
    assert [Grant.objects.get(pk=grant.pk).status for grant in grants] == ["active", "revoked", "active"]
    assert len(waiting_titles(browser.open(here))) == 2


@pytest.mark.parametrize("text", ["x" * 2000, "Ärger über die App! " * 100, "Приложение врёт. " * 117])
def test_the_longest_text_waits(consent_request: ConsentRequest, text: str) -> None:
    browser, path = _reporting(consent_request, text)
    browser.sign_in(consent_request.user, browser.path)
    browser.press(path, {})
    assert AppReport.objects.get().text == text.strip()
    assert len(cookie_of(browser)) <= unconfirmed_forms.MAX_BYTES


def test_a_text_that_no_cookie_holds_stays_on_the_page_until_it_can_be_sent(consent_request: ConsentRequest) -> None:
    text = "".join(chr(0x4E00 + (7919 * number) % 20000) for number in range(2000))
    browser, path = _reporting(consent_request, text)
    assert browser.answer.status_code == 403
    assert text in browser.text
    assert "Sign in in another tab" in browser.text
    assert cookie_of(browser) == ""
    left_open = form_to(browser.answer, path)

    browser.sign_in(consent_request.user)  # the other tab
    browser.send(path, left_open.fields)  # with a token of before
    browser.press(path, {})

    assert AppReport.objects.get().text == text


def _reporting(consent_request: ConsentRequest, text: str) -> tuple[Browser, str]:
    browser, here = Browser(), f"/consent/apps/{consent_request.app.app_id}/"
    browser.sign_in(consent_request.user)
    browser.open(here)
    browser.end_session()
    browser.press(f"{here}report/", {"text": text})
    return browser, f"{here}report/"


def test_a_fresh_sign_in_that_a_step_asks_for_keeps_the_step(person: User) -> None:
    give_vault(person, passphrase="gravel lantern otter plum 7")
    wrapper = KeyWrapper.objects.get(kind="passphrase")
    browser = Browser()
    browser.client.cookies = signed_in(person, seconds_ago=601).client.cookies
    path = f"/account/security/wrappers/{wrapper.wrapper_id}/remove/"
    browser.open(path)

    browser.press(path, {"only_recovery": "yes"})
    assert browser.path.startswith("/accounts/reauthenticate/")
    browser.confirm_it_is_me()

    assert browser.path == "/account/security/"
    assert waiting_titles(browser.answer) == ["Remove it: Passphrase"]
    browser.press(path, {})
    wrapper.refresh_from_db()
    assert wrapper.removed_at is not None
