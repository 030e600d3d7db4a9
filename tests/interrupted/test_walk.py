"""Every address that takes a POST from a page: what was asked survives the end of the session and of the token."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from django.urls import resolve, reverse

from accounts.interrupted.page_forms import form_of
from accounts.models import User
from tests.addresses import ADDRESSES, path_of
from tests.callers import signed_in
from tests.interrupted import account_scenes, application_scenes, portal_scenes, profile_scenes, scenes, webhook_scenes
from tests.interrupted.plain_browser import CONFIRM_BY_CODE, Browser, form_to, waiting_titles
from tests.interrupted.scenes import Scene, Stage

pytestmark = pytest.mark.django_db

_FILES = (scenes, profile_scenes, portal_scenes, application_scenes, account_scenes, webhook_scenes)
WAITING = {name: make for file in _FILES for name, make in file.SCENES.items()}
AT_ONCE = account_scenes.AT_ONCE
BOUND = account_scenes.BOUND_TO_A_VISIT
CHANGES_NOTHING = {"consent:verify-history"}
# codes that came to a phone number or that an app shows, which open no account, and the one of the mail, which is for
# no sign-in to wait
OTHER_CODES = {"numbers:code", "account-keep-by-mail", "consent:connect", "consent:connection"}
ON_THEIR_PAGE = {"processing:consent", "consent:connection"}
SECOND_STEP = {"mfa_remove_webauthn", "mfa_edit_webauthn", "mfa_deactivate_totp", "mfa_generate_recovery_codes"}


@pytest.fixture
def stage(person: User, settings: Any) -> Iterator[Stage]:
    with ExitStack() as after:
        yield Stage(person, settings, after)


# --- the table is whole -----------------------------------------------------------------------------------------------

FORMS = {match.view_name: match for match in (resolve(path_of(one.route)) for one in ADDRESSES if one.is_form)}


def test_every_address_that_takes_a_form_has_its_scene() -> None:
    assert set(FORMS) == {*WAITING, *AT_ONCE, *BOUND}
    assert not set(WAITING) & set(AT_ONCE)


def test_every_form_declares_what_is_kept() -> None:
    assert {name for name, match in FORMS.items() if form_of(match) is None} == set()


@pytest.mark.parametrize("name", FORMS)
def test_no_password_code_or_secret_is_kept(name: str) -> None:
    form = form_of(FORMS[name])
    assert form is not None
    kept = {field.name for field in form.fields if field.kind != "secret"}
    secret = {one for one in kept if re.search("passw|passphrase|secret|token|recovery_code|^code|csrf", one)}
    assert secret == ({"code"} if name in OTHER_CODES else set())


# --- without a session ------------------------------------------------------------------------------------------------


def on_its_page(scene: Scene, person: User, name: str) -> Browser:
    """Signed in, in front of the button; the session is over and nobody knows it yet."""
    browser = Browser()
    if name in SECOND_STEP or not person.has_usable_password():
        browser.client.force_login(person)
    else:  # the session that the form would make: the form itself is walked through on the way back
        browser.client = signed_in(person, enforce_csrf=True).client
    browser.open(scene.page)
    _once_more(browser)
    assert (browser.answer.status_code, browser.path) == (200, scene.page)
    return browser


def _come_in(browser: Browser, person: User, name: str, path: str) -> None:
    if name in SECOND_STEP or not person.has_usable_password():
        browser.client.force_login(person)
        browser.open(path)
    else:
        browser.sign_in(person, path)


def _once_more(browser: Browser) -> None:
    """Some steps ask for the password again, or for the second factor, however fresh the sign-in is."""
    if browser.answer.wsgi_request.path in ("/accounts/reauthenticate/", CONFIRM_BY_CODE):
        browser.confirm_it_is_me()


def _confirm(browser: Browser, scene: Scene, person: User) -> None:
    """One click on what waits, with whatever must be typed anew."""
    form = form_to(browser.answer, scene.path)
    typed = {name: value for name, value in scene.typed.items() if form.fields.get(name) == ""}
    browser.send(scene.path, {**form.fields, **typed})
    _once_more(browser)


@pytest.mark.parametrize("name", WAITING)
def test_without_a_session_it_waits_on_its_page_and_one_confirmation_does_it(name: str, stage: Stage) -> None:
    scene = WAITING[name](stage)
    browser = on_its_page(scene, stage.person, name)
    browser.end_session()

    to_sign_in = browser.press(scene.path, scene.typed, follow=False)

    assert to_sign_in.status_code == 302
    location = to_sign_in["Location"]
    assert location.startswith("/accounts/login/?next=")
    assert waiting_titles(browser.open(location)) == []  # nothing of it for whoever comes along
    assert "Sign in: what you asked for then waits" in browser.text
    assert name in CHANGES_NOTHING or not scene.done()
    _come_in(browser, stage.person, name, location)
    _once_more(browser)

    assert (browser.answer.status_code, browser.path) == (200, scene.page)
    assert waiting_titles(browser.answer) == [scene.title]
    assert scene.shows in browser.text
    _confirm(browser, scene, stage.person)
    assert browser.answer.status_code == 200
    assert scene.done()
    assert waiting_titles(browser.open("/consent/")) == []


# --- without a token --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WAITING)
def test_without_its_token_it_is_shown_again_and_one_confirmation_does_it(name: str, stage: Stage) -> None:
    scene = WAITING[name](stage)
    browser = on_its_page(scene, stage.person, name)
    browser.lose_token()

    browser.press(scene.path, scene.typed)

    assert browser.answer.status_code == (200 if name in ON_THEIR_PAGE else 403)
    assert waiting_titles(browser.answer) == [scene.title]
    assert scene.shows in browser.text
    _confirm(browser, scene, stage.person)
    assert browser.answer.status_code == 200
    assert scene.done()


@pytest.mark.parametrize("name", AT_ONCE)
def test_a_form_for_everybody_is_shown_again_when_its_token_is_gone(name: str, stage: Stage) -> None:
    scene = AT_ONCE[name](stage)
    browser = Browser()
    browser.open(scene.page)
    browser.lose_token()

    browser.press(scene.path, scene.typed)

    assert browser.answer.status_code == 403
    assert waiting_titles(browser.answer) == [scene.title]
    assert scene.shows in browser.text
    assert "password-of-tests" not in browser.text  # no password travels back
    _confirm(browser, scene, stage.person)
    assert browser.answer.status_code == 200
    assert scene.done()


@pytest.mark.parametrize("name", BOUND)
def test_what_belongs_to_one_visit_ends_on_a_page_that_can_be_looked_at(name: str, stage: Stage) -> None:
    path = "/accounts/confirm-email/a-key/" if name == "account_confirm_email" else None
    path = path or ("/accounts/password/reset/key/a-set-password/" if "from_key" in name else reverse(name))
    for signed_out in (True, False):
        browser = Browser()
        browser.sign_in(stage.person)
        browser.open("/account/security/")
        fields = form_to(browser.answer, "/accounts/logout/").fields
        if signed_out:
            browser.end_session()
        else:
            browser.lose_token()
        browser.send(path, fields)
        if signed_out and browser.path.startswith("/accounts/login/"):
            browser.sign_in(stage.person, browser.path)
        allowed = {200, 404} if name == "account_confirm_email" else {200}  # that key is none
        assert browser.answer.status_code in (allowed if signed_out else {200, 403}), (path, signed_out)
        assert "<h1" in browser.text
