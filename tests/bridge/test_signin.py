"""Signing in over HTTP: the form, its refusals, and the CSRF token of every change."""

import pytest

from consent_bridge.errors import BadAnswer
from consent_bridge.owner import Owner
from consent_bridge.signin import SignInRefused
from tests.bridge.fake_service import Reply
from tests.bridge.fake_site import LOGIN, LOGIN_PAGE, PASSWORD, SECOND_TOKEN


def test_sign_in_is_the_forms_own_way(fake, site):
    with Owner(fake.url) as owner:
        state = owner.sign_in(LOGIN, PASSWORD)

    assert (state.user_id, state.vault_status, state.key_id, state.wrappers) == ("usr_a", "absent", None, ())
    posted = fake.calls("/accounts/login/")[1]
    assert posted.form() == {
        "csrfmiddlewaretoken": "field-token",
        "next": "/",
        "login": LOGIN,
        "password": PASSWORD,
    }
    assert posted.headers["referer"] == f"{fake.url}/accounts/login/"


def test_sign_in_with_a_wrong_password_is_refused(fake, site):
    with Owner(fake.url) as owner, pytest.raises(SignInRefused, match="the address or the password is wrong"):
        owner.sign_in(LOGIN, "wrong")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(b"", 302, (("Location", "/accounts/2fa/authenticate/"),)), "second factor"),
        (Reply(b"", 302, (("Location", "/accounts/confirm-email/"),)), "not confirmed"),
        (Reply("slow down", 429), "too many attempts"),
        (Reply("CSRF", 403), "CSRF"),
        (Reply("oops", 500), "status 500"),
    ],
)
def test_sign_in_that_a_script_cannot_finish_says_why(fake, reply, reason):
    fake.on("GET", "/accounts/login/", Reply(LOGIN_PAGE))
    fake.on("POST", "/accounts/login/", reply)

    with Owner(fake.url) as owner, pytest.raises(SignInRefused, match=reason):
        owner.sign_in(LOGIN, PASSWORD)


@pytest.mark.parametrize(
    "page", ["", "<form><input name=login></form>", '<form><input type="password"></form>', b"\xff<"]
)
def test_page_without_the_form_is_a_bad_answer(fake, page):
    fake.on("GET", "/accounts/login/", Reply(page))

    with Owner(fake.url) as owner, pytest.raises(BadAnswer, match="no form"):
        owner.sign_in(LOGIN, PASSWORD)


def test_login_page_that_leads_elsewhere_is_refused(fake):
    fake.on("GET", "/accounts/login/", Reply(b"", 302, (("Location", "https://elsewhere.example/"),)))

    with Owner(fake.url) as owner, pytest.raises(SignInRefused, match="not shown"):
        owner.sign_in(LOGIN, PASSWORD)


def test_nothing_is_changed_without_a_session(fake, site):
    with Owner(fake.url) as owner, pytest.raises(SignInRefused, match="not signed in"):
        owner.deny("req_a")

    assert fake.received == []


def test_change_carries_the_sessions_csrf_token(fake, owner):
    owner.deny("req_a")

    sent = fake.calls("/consent/requests/req_a/decision")[0]
    assert sent.headers["x-csrftoken"] == SECOND_TOKEN
    assert sent.headers["referer"] == f"{fake.url}/"
    assert sent.headers["content-type"] == "application/json"
