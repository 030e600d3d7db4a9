"""Where an account has a second factor, whoever has its password and a session of it takes nothing over."""

import time
from collections.abc import Callable
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.test import Client

from accounts.models import Erasure, User
from common.cache import forget_expired
from tests import factories
from tests.accounts.test_passkey_sign_up import SoftwareKey, begin, sign_up
from tests.callers import JsonClient, signed_in
from tests.factories.accounts import PASSWORD
from tests.pkm.sealed_segments import wrapper
from tests.staff import confirm, give_second_factor
from tests.totp import a_period_later, in_one_period, totp_code
from tests.visitor import secret_shown

pytestmark = pytest.mark.django_db
NEW = "a quiet harbour at night 3"
CONFIRM = "/accounts/2fa/reauthenticate/"


@pytest.fixture
def secret(person: User) -> str:
    """Of a person with an authenticator app, recovery codes, a passkey and two confirmed addresses."""
    EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    EmailAddress.objects.create(user=person, email="second@example.org", verified=True)
    made = give_second_factor(person)
    RecoveryCodes.activate(person)
    Authenticator.objects.create(user=person, type="webauthn", data={"name": "Blue key", "credential": {}})
    return made


@pytest.fixture
def thief(person: User, secret: str) -> Client:
    """A session from before the factor, whose holder knows the password and has just given it."""
    client = signed_in(person).client
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    session = client.session
    password = {"method": "password", "at": time.time(), "reauthenticated": True}
    session["account_authentication_methods"] = [*session["account_authentication_methods"], password]
    session.save()
    return client


def test_the_password_is_not_even_asked_for(thief: Client) -> None:
    assert thief.get("/accounts/reauthenticate/").headers["Location"] == CONFIRM
    assert thief.post("/accounts/reauthenticate/", {"password": PASSWORD}).headers["Location"] == CONFIRM


def state(person: User) -> Any:
    """What the ways in are, and what is about to become of the account."""
    user = User.objects.get(pk=person.pk)
    factors = list(Authenticator.objects.filter(user=person).order_by("pk").values_list("type", "data"))
    addresses = list(EmailAddress.objects.filter(user=person).order_by("pk").values_list("email", "primary"))
    return user.email, user.password, factors, addresses, Erasure.objects.count(), user.key_wrappers.count()


def _passkey(do: str) -> Callable[[], str]:
    return lambda: f"/accounts/2fa/webauthn/keys/{Authenticator.objects.get(type='webauthn').pk}/{do}/"


_EMAIL = "/accounts/email/"
_CHANGED = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}
PAGES: dict[str, tuple[str | Callable[[], str], dict[str, str]]] = {
    "take the app away": ("/accounts/2fa/totp/deactivate/", {}),
    "take a passkey away": (_passkey("remove"), {}),
    "rename a passkey": (_passkey("edit"), {"name": "Red key"}),
    "make new codes": ("/accounts/2fa/recovery-codes/generate/", {}),
    "write to another address": (_EMAIL, {"email": "second@example.org", "action_primary": ""}),
    "take an address away": (_EMAIL, {"email": "second@example.org", "action_remove": ""}),
    "change the password": ("/accounts/password/change/", _CHANGED),
    "delete the account": ("/account/delete/", {"address": "self"}),
}


def send(client: Client, person: User, what: str, **more: Any) -> Any:
    at, form = PAGES[what]
    form = {name: person.email if value == "self" else value for name, value in form.items()}
    return client.post(at if isinstance(at, str) else at(), form, **more)


@pytest.mark.parametrize("what", PAGES)
def test_password_and_session_change_nothing(what: str, thief: Client, person: User) -> None:
    before = state(person)
    answer = send(thief, person, what)

    assert answer.headers["Location"].startswith(CONFIRM)
    assert state(person) == before


@pytest.mark.parametrize("what", PAGES)
def test_a_script_gets_no_further_than_a_page(what: str, thief: Client, person: User) -> None:
    before = state(person)
    send(thief, person, what, headers={"Accept": "application/json", "X-Requested-With": "XMLHttpRequest"})

    assert state(person) == before


@pytest.mark.parametrize("what", PAGES)
def test_the_factor_itself_opens_the_way_for_ten_minutes(what: str, thief: Client, person: User, secret: str) -> None:
    before = state(person)
    confirm(thief, secret)
    with time_machine.travel(time.time() + 601):
        late = send(thief, person, what)
        assert (late.status_code, state(person)) == (302, before)
    send(thief, person, what)

    assert state(person) != before


def test_an_account_with_a_factor_takes_no_new_address(thief: Client, person: User) -> None:
    before = state(person)
    answer = thief.post(_EMAIL, {"email": "thief@example.org", "action_add": ""})

    assert (answer.status_code, state(person)) == (200, before)


@pytest.mark.parametrize("page", ["", "download/"])
def test_recovery_codes_are_not_shown(page: str, thief: Client, secret: str) -> None:
    assert thief.get(f"/accounts/2fa/recovery-codes/{page}").status_code == 302
    confirm(thief, secret)
    assert thief.get(f"/accounts/2fa/recovery-codes/{page}").status_code == 200


@pytest.mark.parametrize(
    ("method", "at"),
    [
        ("POST", "/vault/wrappers"),
        ("DELETE", "/vault/wrappers/{wrapper}"),
        ("POST", "/vault/reset"),
        ("POST", "/vault/rotation"),
    ],
)
def test_the_owners_addresses_ask_for_the_factor(method: str, at: str, thief: Client, person: User) -> None:
    vault = factories.give_vault(person)
    before = state(person)
    existing = person.key_wrappers.first()  # type: ignore[attr-defined]  # of the vault that was just made
    caller = JsonClient(thief)
    path = at.format(wrapper=existing.wrapper_id)
    answer = caller.delete(path) if method == "DELETE" else caller.post(path, wrapper(person, vault.key, "passkey"))

    assert (answer.status_code, answer.json()["code"]) == (403, "reauthentication_required")  # type: ignore[attr-defined]
    assert answer.json()["url"].endswith(CONFIRM)  # type: ignore[attr-defined]
    assert state(person) == before


def test_who_signs_in_by_passkey_alone_sets_no_password_without_it() -> None:
    key, client = SoftwareKey(), begin()
    sign_up(key, client)
    person = User.objects.get()
    session = client.session
    records = session["account_authentication_methods"]
    session["account_authentication_methods"] = [{**one, "at": one["at"] - 601} for one in records]
    session.save()
    form = {"password1": NEW, "password2": NEW}

    where = client.post("/accounts/password/set/", form).headers["Location"]
    assert where == "/accounts/2fa/webauthn/reauthenticate/?next=%2Faccounts%2Fpassword%2Fset%2F"
    assert NEW not in str(dict(client.session))
    assert not User.objects.get().has_usable_password()

    options = client.get(where).context["js_data"]["request_options"]
    client.post(where, {"credential": key.answer(options)})
    client.post("/accounts/password/set/", form)
    assert User.objects.get(pk=person.pk).check_password(NEW)


def test_without_a_password_a_passkey_stays() -> None:
    client = begin()
    sign_up(SoftwareKey(), client)
    person, passkey = User.objects.get(), Authenticator.objects.get(type="webauthn")
    refusal = "Nothing else signs you in. First set a password or add another passkey."

    answer = send(client, person, "take a passkey away")
    assert (answer.status_code, refusal in answer.content.decode()) == (200, True)
    second = Authenticator.objects.create(user=person, type="webauthn", data={"name": "Second", "credential": {}})
    client.post(f"/accounts/2fa/webauthn/keys/{second.pk}/remove/")
    give_second_factor(person)
    send(client, person, "take a passkey away")
    assert Authenticator.objects.get(type="webauthn") == passkey

    person.set_password(NEW)
    User.objects.filter(pk=person.pk).update(password=person.password)
    session = client.session
    session["_auth_user_hash"] = person.get_session_auth_hash()
    session.save()
    send(client, person, "take a passkey away")
    assert not Authenticator.objects.filter(type="webauthn").exists()


def test_an_app_stays_where_nothing_else_does(person: User) -> None:
    secret = give_second_factor(person)
    User.objects.filter(pk=person.pk).update(password="!")
    client = Client()
    client.force_login(User.objects.get(pk=person.pk))
    confirm(client, secret)

    assert client.post("/accounts/2fa/totp/deactivate/").status_code == 200
    assert Authenticator.objects.filter(type="totp").exists()


def test_a_factor_that_was_taken_away_confirms_nothing(person: User) -> None:
    client, secret = signed_in(person).client, give_second_factor(person)
    confirm(client, secret)
    Authenticator.objects.filter(user=person).delete()
    give_second_factor(person)

    assert client.post("/accounts/2fa/totp/deactivate/").headers["Location"].startswith(CONFIRM)


def left_of(person: User) -> list[str]:
    codes: list[str] = Authenticator.objects.get(user=person, type="recovery_codes").wrap().get_unused_codes()
    return codes


def who_lost_the_device(person: User) -> tuple[Client, list[str]]:
    """Signed in by a recovery code, and the codes that are left."""
    codes = left_of(person)
    client = Client()
    client.post("/accounts/login/", {"login": person.email, "password": PASSWORD})
    client.post("/accounts/2fa/authenticate/", {"code": codes[0]})
    return client, codes[1:]


@pytest.mark.django_db(transaction=True)  # what follows the commit happens within the request
@pytest.mark.usefixtures("secret")
def test_who_confirmed_by_a_recovery_code_sees_the_new_ones(person: User) -> None:
    client, left = who_lost_the_device(person)
    client.post(CONFIRM, {"code": left[0]})
    made = client.post("/accounts/2fa/recovery-codes/generate/")
    shown = client.get(made.headers["Location"])

    assert shown.status_code == 200
    codes = shown.context["unused_codes"]
    assert (len(codes), codes[0] in shown.content.decode()) == (10, True)
    with time_machine.travel(time.time() + 601):
        assert client.get("/accounts/2fa/recovery-codes/").status_code == 302


@pytest.mark.parametrize("what", ["take the app away", "make new codes"])
@pytest.mark.usefixtures("secret")
def test_the_last_recovery_code_is_enough_to_mend_the_account(what: str, person: User) -> None:
    for code in left_of(person)[1:]:
        Authenticator.objects.get(user=person, type="recovery_codes").wrap().validate_code(code)
    client, left = who_lost_the_device(person)
    before = state(person)
    with time_machine.travel(time.time() + 601):
        assert send(client, person, what).headers["Location"].startswith(CONFIRM)
    send(client, person, what)

    assert (left, left_of(person) == []) == ([], what == "take the app away")
    assert state(person) != before


# --- turning one on ---------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)  # what follows the commit happens within the request
def test_turning_a_factor_on_ends_the_other_sessions_alone(person: User) -> None:
    EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    here, there = signed_in(person).client, signed_in(person).client
    here.post("/accounts/reauthenticate/", {"password": PASSWORD})
    secret = secret_shown(here.get("/accounts/2fa/totp/activate/").content.decode())
    with in_one_period():
        assert here.post("/accounts/2fa/totp/activate/", {"code": totp_code(secret)}).status_code == 302

    assert there.get("/vault/keys").status_code == 401
    assert here.get("/accounts/2fa/recovery-codes/").status_code == 200  # which has just shown it


def sign_in(person: User, code: str) -> bool:
    client = Client()
    client.post("/accounts/login/", {"login": person.email, "password": PASSWORD})
    client.post("/accounts/2fa/authenticate/", {"code": code})
    return client.get("/vault/keys").status_code == 200


def test_a_passkey_ends_them_too() -> None:
    key, client = SoftwareKey(), begin()
    sign_up(key, client)
    person = User.objects.get()
    EmailAddress.objects.update(verified=True)
    other = signed_in(person).client
    options = client.get("/accounts/2fa/webauthn/reauthenticate/").context["js_data"]["request_options"]
    client.post("/accounts/2fa/webauthn/reauthenticate/", {"credential": key.answer(options)})
    second = SoftwareKey()
    options = client.get("/accounts/2fa/webauthn/add/").context["js_data"]["creation_options"]
    client.post("/accounts/2fa/webauthn/add/", {"credential": second.create(options), "name": "Second"})

    assert Authenticator.objects.filter(type="webauthn").count() == 2
    assert other.get("/vault/keys").status_code == 401
    assert client.get("/vault/keys").status_code == 200


def test_the_code_that_turned_it_on_is_spent(person: User) -> None:
    EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    here = signed_in(person).client
    here.post("/accounts/reauthenticate/", {"password": PASSWORD})
    secret = secret_shown(here.get("/accounts/2fa/totp/activate/").content.decode())
    with in_one_period():
        code = totp_code(secret)
        here.post("/accounts/2fa/totp/activate/", {"code": code})

        assert not sign_in(person, code)
        with a_period_later():
            assert not sign_in(person, code)
            assert sign_in(person, totp_code(secret))


# --- codes that come late ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("late", "taken"), [(-20, False), (0, True), (29, True), (43, True), (60, False)])
def test_a_code_of_the_step_before_is_taken(late: int, taken: bool, person: User) -> None:
    secret = give_second_factor(person)
    begun = time.time() // 30 * 30
    with time_machine.travel(begun):
        code = totp_code(secret)
    with time_machine.travel(begun + late):
        assert sign_in(person, code) is taken


def test_a_code_that_came_too_early_is_taken_in_its_time(person: User) -> None:
    secret = give_second_factor(person)
    begun = time.time() // 30 * 30
    with time_machine.travel(begun):
        code = totp_code(secret)  # of a phone whose clock is ahead
    with time_machine.travel(begun - 20):
        assert not sign_in(person, code)
    with time_machine.travel(begun + 2):
        assert sign_in(person, code)
        assert not sign_in(person, code)


def test_no_code_is_taken_twice_however_late(person: User) -> None:
    secret = give_second_factor(person)
    begun = time.time() // 30 * 30
    with time_machine.travel(begun + 1):
        code = totp_code(secret)
        assert sign_in(person, code)
    for later in (2, 31, 43, 59):
        with time_machine.travel(begun + later):
            forget_expired()
            assert not sign_in(person, code)
