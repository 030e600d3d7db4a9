"""How often a password or a code may be tried: by whom it is counted, and what counts apart."""

import time
from typing import Any

import pytest
import time_machine
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from django.test import Client, RequestFactory
from django.urls import reverse

from accounts.models import Session, User
from accounts.sign_in import attempts, known_browsers
from accounts.sign_in.sessions import SessionStore
from tests.callers import signed_in
from tests.factories import PersonFactory
from tests.factories.accounts import PASSWORD
from tests.totp import in_one_period

HERE, THERE = "203.0.113.7", "2001:db8:1:2::7"
COOKIE = "known-browser"


@pytest.fixture(autouse=True)
def store(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting is tried for real elsewhere; here it takes no time."""
    monkeypatch.setattr(attempts.time, "sleep", lambda seconds: None)


def sign_in(email: str, password: str = PASSWORD, there: str = HERE, client: Client | None = None) -> Any:
    form = {"login": email, "password": password}
    return (client or Client()).post(reverse("account_login"), form, REMOTE_ADDR=there)


def guess(email: str, times: int = 10, there: str = HERE, client: Client | None = None) -> list[int]:
    return [sign_in(email, "wrong", there, client).status_code for _ in range(times)]


def test_a_refusal_says_when_to_try_again(person: User) -> None:
    guess(person.email)

    refused = sign_in(person.email)

    assert (refused.status_code, 880 < int(refused["Retry-After"]) <= 900) == (429, True)
    assert "Try again in 15 minutes." in refused.content.decode()
    assert refused["Cache-Control"] == "no-store"


def test_addresses_of_one_ipv6_network_are_one(person: User) -> None:
    guess(person.email, there=THERE)

    assert sign_in(person.email, there="2001:db8:1:2:ffff::1").status_code == 429
    assert sign_in(person.email, there="2001:db8:1:3::1").status_code == 302


def test_an_unknown_account_is_refused_like_a_known_one(person: User) -> None:
    answers = [[guess(email, 1) for _ in range(12)] for email in (person.email, "nobody@example.net")]

    assert answers[0] == answers[1] == [[200]] * 10 + [[429]] * 2


def test_other_spellings_of_an_address_are_the_same_account(person: User) -> None:
    guess(person.email, 5)
    guess(person.email.upper(), 5)

    assert sign_in(f" {person.email.title()} ").status_code == 429


def test_the_right_password_begins_anew_for_this_network_alone(person: User) -> None:
    guess(person.email, 9)
    guess(person.email, 10, there=THERE)

    assert sign_in(person.email).status_code == 302

    assert guess(person.email, 11) == [200] * 10 + [429]
    assert sign_in(person.email, there=THERE).status_code == 429


def test_one_network_cannot_go_through_all_accounts(settings: Any, person: User) -> None:
    settings.SIGN_IN_FAILURES_PER_NETWORK = 20

    tried = [guess(f"person-{n}@example.net", 1) for n in range(21)]

    assert tried == [[200]] * 20 + [[429]]
    assert sign_in(person.email).status_code == 429
    assert sign_in(person.email, there=THERE).status_code == 302


def test_without_an_address_there_is_only_waiting(person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(attempts.time, "sleep", slept.append)

    assert guess(person.email, 31, there="") == [200] * 31
    assert sign_in(person.email, there="").status_code == 302
    assert slept == [0.25] * 10 + [0.5] * 2


def test_the_service_under_attack_slows_who_is_new(person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(attempts.time, "sleep", slept.append)
    attempts.limits.count(attempts._TOTAL_LIMIT, "", amount=600)
    known = Client()

    assert sign_in(person.email, client=known).status_code == 302
    known.post(reverse("account_logout"))
    assert sign_in(person.email, client=known).status_code == 302

    assert slept == [1.0]


def test_who_is_sent_away_and_comes_back_is_let_through(
    person: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REDIS_URL = ""  # whose clock is its own
    monkeypatch.setattr(attempts, "_waiting", {"a", "b", "c", "d"})
    answers = []
    with time_machine.travel(1_800_000_000, tick=False) as clock:
        attempts.limits.count(attempts._ACCOUNT_LIMIT, f"user {person.public_id}", amount=60)
        for later in (0, 1, 1, 0):
            clock.shift(later)
            answers.append(sign_in(person.email, "wrong").status_code)

    assert answers == [429, 429, 200, 429]  # at once, too soon, after two seconds, and again


def test_those_that_wait_are_few_and_one_of_a_network(person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts.limits.count(attempts._ACCOUNT_LIMIT, f"user {person.public_id}", amount=60)
    inside: list[set[str]] = []
    monkeypatch.setattr(attempts.time, "sleep", lambda seconds: inside.append(set(attempts._waiting)))

    assert sign_in(person.email, "wrong").status_code == 200
    monkeypatch.setattr(attempts, "_waiting", {HERE})
    assert sign_in(person.email).status_code == 429

    assert inside == [{HERE}]
    assert attempts._waiting == {HERE}


# --- Browsers that are known


def test_a_known_browser_is_counted_by_itself(person: User) -> None:
    known = Client()
    sign_in(person.email, client=known)
    guess(person.email)  # others, from the same network

    known.post(reverse("account_logout"))
    assert guess(person.email, 11, client=known) == [200] * 10 + [429]
    assert sign_in(person.email, there=THERE).status_code == 302


def test_only_a_sign_in_makes_a_browser_known(person: User) -> None:
    client = Client()
    client.get("/")
    client.get(reverse("account_login"))
    sign_in(person.email, "wrong", client=client)
    assert COOKIE not in client.cookies

    sign_in(person.email, client=client)

    cookie = client.cookies[COOKIE]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["secure"]) == (True, "Lax", "/", "")
    assert person.public_id not in cookie.value
    assert person.email not in cookie.value


def test_the_cookie_has_its_prefix_under_https(person: User, settings: Any) -> None:
    settings.KNOWN_BROWSER_COOKIE, settings.SESSION_COOKIE_SECURE = "__Host-known-browser", True

    cookie = sign_in(person.email).cookies["__Host-known-browser"]

    assert (cookie["secure"], cookie["path"], cookie["domain"]) == (True, "/", "")


def asking(cookie: str) -> Any:
    return RequestFactory(headers={"Cookie": f"{COOKIE}={cookie}"}).get("/")


def known_to(*people: User) -> str:
    """The cookie of a browser in which these signed in, one after the other."""
    client = Client()
    for person in people:
        sign_in(person.email, client=client)
        client.post(reverse("account_logout"))
    return str(client.cookies[COOKIE].value)


def test_a_browser_knows_several_accounts_and_no_other(person: User) -> None:
    others = [PersonFactory() for _ in range(5)]
    cookie = known_to(person, *others[:2], person)

    known = [bool(known_browsers.browser_of(asking(cookie), one.public_id)) for one in (person, *others)]
    assert known == [True, True, True, False, False, False]
    assert len(cookie.split("~")) == 3
    assert len(known_to(person, *others).split("~")) == 5


@pytest.mark.parametrize("made", ["{}x", "x{}", "~~{}", "...", "", "a.1.b", "a.b.c", "\x00", "{}" * 40])
def test_a_forged_cookie_is_none(person: User, made: str) -> None:
    other = PersonFactory()

    assert known_browsers.browser_of(asking(made.format(*[known_to(other)] * 40)), person.public_id) == ""


def test_a_cookie_ends_half_a_year_after_the_last_sign_in(person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    cookie = known_to(person)
    now = known_browsers.time.time()
    monkeypatch.setattr(known_browsers.time, "time", lambda: now + 181 * 24 * 3600)

    assert known_browsers.browser_of(asking(cookie), person.public_id) == ""


# --- Codes, confirmations, new passwords


def with_totp(person: User) -> str:
    secret = generate_totp_secret()
    TOTP.activate(person, secret)
    RecoveryCodes.activate(person)
    return secret


def code_of(secret: str) -> str:
    return format_hotp_value(hotp_value(secret, int(attempts.time.time()) // 30))


def second_step(person: User, code: str, there: str = HERE) -> Any:
    client = Client()
    assert sign_in(person.email, there=there, client=client)["Location"] == reverse("mfa_authenticate")
    return client.post(reverse("mfa_authenticate"), {"code": code}, REMOTE_ADDR=there)


def test_codes_are_counted_by_account_and_network(person: User) -> None:
    secret = with_totp(person)

    step = int(time.time()) // 30
    right = {format_hotp_value(hotp_value(secret, each)) for each in range(step - 1, step + 3)}
    wrong = next(code for code in ("000000", "111111", "222222", "333333", "444444") if code not in right)

    tried = [second_step(person, wrong).status_code for _ in range(11)]

    assert tried == [200] * 10 + [429]
    with in_one_period():
        assert second_step(person, code_of(secret), there=THERE).status_code == 302


def test_a_code_works_once_in_whichever_process(person: User) -> None:
    with in_one_period():
        code = code_of(with_totp(person))
        assert [second_step(person, code).status_code for _ in range(2)] == [302, 200]


def test_codes_that_many_networks_try_end_until_the_password_is_replaced(
    person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever gets to the second step knows the password, so this is no way to keep an owner out."""
    secret = with_totp(person)
    known = Client()
    sign_in(person.email, client=known)
    known.post(reverse("mfa_authenticate"), {"code": RecoveryCodes(_recovery(person)).get_unused_codes()[0]})
    known.post(reverse("account_logout"))
    attempts.limits.count(attempts._CODE_LIMIT, f"user {person.public_id}", amount=100)

    assert second_step(person, code_of(secret)).status_code == 429
    sign_in(person.email, client=known)
    with in_one_period():
        answer = known.post(reverse("mfa_authenticate"), {"code": code_of(secret)})
    assert answer.status_code == 302

    attempts.forget_failures(person)
    unused = RecoveryCodes(_recovery(person)).get_unused_codes()[0]
    assert second_step(person, unused).status_code == 302


def _recovery(person: User) -> Any:
    return person.authenticator_set.get(type="recovery_codes")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("page", "field", "new"),
    [
        ("account_reauthenticate", "password", ""),
        ("account_change_password", "oldpassword", "a quiet harbour 3"),
    ],
    ids=["confirming that it is you", "changing the password"],
)
def test_guessing_at_the_password_from_inside_is_counted_by_network(
    person: User, page: str, field: str, new: str
) -> None:
    thief, owner = signed_in(person).client, signed_in(person).client

    def send(client: Client, password: str, there: str) -> int:
        form = {field: password, "password1": new, "password2": new}
        return client.post(reverse(page), form, REMOTE_ADDR=there).status_code

    assert [send(thief, "wrong", HERE) for _ in range(11)] == [200] * 10 + [429]
    assert send(owner, PASSWORD, THERE) == 302


def test_sign_ups_are_counted_by_network(settings: Any) -> None:
    settings.SIGN_UPS_PER_NETWORK = 3

    def sign_up(number: int, there: str) -> int:
        form = {"email": f"new{number}@example.org", "password1": "a quiet harbour at night 3"}
        return Client().post(reverse("account_signup"), form, REMOTE_ADDR=there).status_code

    assert [sign_up(number, HERE) for number in range(4)] == [302] * 3 + [429]
    assert sign_up(9, THERE) == 302
    assert Client().get(reverse("account_signup"), REMOTE_ADDR=HERE).status_code == 200


def test_the_list_of_sessions_shows_where_they_came_from(person: User, settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1
    form = {"login": person.email, "password": PASSWORD}

    Client().post(reverse("account_login"), form, headers={"X-Forwarded-For": f"192.0.2.1, {HERE}"})
    Client().post(reverse("account_login"), form, headers={"X-Forwarded-For": "nowhere"}, REMOTE_ADDR="")

    kept = [SessionStore(None).decode(data) for data in Session.objects.values_list("data", flat=True)]
    assert sorted(session["signed_in_with"]["ip"] for session in kept) == [HERE, "::"]
