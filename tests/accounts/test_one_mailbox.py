"""One mailbox and one password, however they are typed."""

import re
import unicodedata
from types import SimpleNamespace
from typing import Any

import pytest
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.core import mail
from django.test import Client

from accounts.models import User
from common.mail import mailbox
from tests.factories import PersonFactory
from tests.factories.accounts import PASSWORD as OF_TESTS

pytestmark = pytest.mark.django_db

UNICODE, PUNYCODE = "kim@bücher.example", "kim@xn--bcher-kva.example"
SPELLINGS = [
    UNICODE,
    PUNYCODE,
    unicodedata.normalize("NFD", UNICODE),
    "Kim@BÜCHER.example",
    " kim@XN--bcher-kva.EXAMPLE ",
]
PASSWORD = "Grüße-Straße-Äpfel-9"
FORMS = [unicodedata.normalize(form, PASSWORD) for form in ("NFC", "NFD")]


def sign_up(email: str) -> Any:
    return Client().post("/accounts/signup/", {"email": email, "password1": PASSWORD, "agreed": "on"})


def signs_in(email: str, password: str) -> bool:
    browser = Client()
    browser.post("/accounts/login/", {"login": email, "password": password})
    return "_auth_user_id" in browser.session


@pytest.mark.parametrize("spelling", SPELLINGS, ids=ascii)
def test_one_mailbox_has_one_account_and_every_spelling_signs_in(spelling: str) -> None:
    sign_up(spelling)
    for other in SPELLINGS:
        sign_up(other)

    assert list(User.objects.values_list("email", flat=True)) == [PUNYCODE]
    EmailAddress.objects.update(verified=True)
    assert all(signs_in(other, PASSWORD) for other in SPELLINGS)


@pytest.mark.parametrize("spelling", SPELLINGS, ids=ascii)
def test_a_forgotten_password_is_told_whatever_the_spelling(spelling: str) -> None:
    PersonFactory(email=PUNYCODE)

    Client().post("/accounts/password/reset/", {"email": spelling})

    (sent,) = mail.outbox
    assert (sent.to, "/accounts/password/reset/key/" in sent.body) == ([PUNYCODE], True)


@pytest.mark.parametrize("known", [True, False], ids=["an account", "none"])
def test_links_of_mails_follow_no_port_of_whoever_asks(person: User, known: bool) -> None:
    asker = Client(SERVER_NAME="localhost", SERVER_PORT="1")
    asker.post("/accounts/password/reset/", {"email": person.email if known else "nobody@example.org"})

    (sent,) = mail.outbox
    assert "localhost:1/" not in sent.body
    assert f"{settings.BASE_URL}/accounts/" in sent.body


def test_an_account_that_was_kept_as_it_was_typed_signs_in() -> None:
    person = PersonFactory(email=UNICODE)
    person.set_password(PASSWORD)
    person.save()

    assert signs_in(UNICODE, PASSWORD)


def with_added(email: str) -> User:
    """Somebody with a confirmed address who added another one and did not confirm that."""
    person = PersonFactory()
    EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    EmailAddress.objects.create(user=person, email=email)
    return person


def test_an_address_that_was_only_added_resets_no_password() -> None:
    with_added("ann@example.org")
    Client().post("/accounts/password/reset/", {"email": "ann@example.org"})
    assert all("/accounts/password/reset/key/" not in sent.body for sent in mail.outbox)

    ann = PersonFactory(email="ann@example.org")
    mail.outbox.clear()
    Client().post("/accounts/password/reset/", {"email": "ann@example.org"})
    (sent,) = mail.outbox
    assert f"/accounts/password/reset/key/{user_pk_to_url_str(ann)}-" in sent.body


def test_an_address_that_was_confirmed_resets_the_password_of_its_account() -> None:
    person = with_added("ann@example.org")
    EmailAddress.objects.update(verified=True)
    Client().post("/accounts/password/reset/", {"email": "ann@example.org"})
    (sent,) = mail.outbox
    assert f"/accounts/password/reset/key/{user_pk_to_url_str(person)}-" in sent.body


@pytest.mark.parametrize("verification", ["optional", "mandatory"])
def test_an_address_that_was_only_added_is_free_to_sign_up_with(settings: Any, verification: str) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = verification
    other = with_added("ann@example.org")

    assert sign_up("ann@example.org").status_code == 302

    ann = User.objects.get(email="ann@example.org")
    addresses = EmailAddress.objects.order_by("pk").values_list("user", "email", "primary")
    assert list(addresses) == [(other.pk, other.email, True), (ann.pk, ann.email, True)]


def test_whoever_confirms_an_address_ends_what_others_claim_of_it() -> None:
    confirming, other = with_added("ann@example.org"), with_added("ann@example.org")
    address = EmailAddress.objects.get(user=confirming, email="ann@example.org")

    Client().post(f"/accounts/confirm-email/{EmailConfirmationHMAC(address).key}/")

    addresses = EmailAddress.objects.filter(email="ann@example.org").values_list("user", "verified")
    assert list(addresses) == [(confirming.pk, True)]
    assert EmailAddress.objects.filter(user=other).count() == 1


def test_an_address_that_somebody_signed_up_with_is_told_when_it_would_become_anothers() -> None:
    person = with_added("ann@example.org")
    PersonFactory(email="ann@example.org")
    EmailAddress.objects.update(verified=True)
    browser = Client()
    browser.post("/accounts/login/", {"login": person.email, "password": OF_TESTS})
    browser.post("/accounts/reauthenticate/", {"password": OF_TESTS})

    page = browser.post("/accounts/email/", {"email": "ann@example.org", "action_primary": ""}, follow=True)

    assert page.status_code == 200
    assert "already registered" in page.content.decode()
    assert EmailAddress.objects.get(user=person, primary=True).email == person.email


def test_confirming_an_address_that_somebody_signed_up_with_is_no_failure() -> None:
    person = PersonFactory()
    address = EmailAddress.objects.create(user=person, email="ann@example.org")  # would become the first one
    PersonFactory(email="ann@example.org")

    answer = Client().post(f"/accounts/confirm-email/{EmailConfirmationHMAC(address).key}/")

    assert answer.status_code == 302
    assert not EmailAddress.objects.filter(verified=True).exists()


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("ann@straße.example", "ann@xn--strae-oqa.example"),
        ("Ann@Example.ORG", "ann@example.org"),
        ("ann@a_b.example", "ann@a_b.example"),
        ("ann", "ann"),
        ("", ""),
        ("ann@\u2028.example", "ann@\u2028.example"),
    ],
)
def test_a_domain_is_kept_as_dns_has_it(typed: str, kept: str) -> None:
    assert mailbox(typed) == kept


@pytest.mark.parametrize("kept", FORMS, ids=["NFC", "NFD"])
@pytest.mark.parametrize("typed", FORMS, ids=["NFC", "NFD"])
def test_a_password_is_the_same_however_its_letters_are_composed(person: User, kept: str, typed: str) -> None:
    person.set_password(kept)
    person.save()

    assert person.check_password(typed)
    assert signs_in(person.email, typed)
    assert not signs_in(person.email, typed.replace("9", "8"))


def test_no_more_of_a_password_is_composed_than_anybody_has(person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    composed: list[int] = []
    normalize = unicodedata.normalize
    counting = SimpleNamespace(normalize=lambda form, text: (composed.append(len(text)), normalize(form, text))[1])
    monkeypatch.setattr("accounts.models.unicodedata", counting)

    assert not person.check_password("\ufdfa" * 1_000_000)  # of which NFKC makes eighteen times as many
    assert composed == []
    assert not person.check_password("\ufdfa" * 1024)
    assert composed == [1024]


def test_changing_and_confirming_take_every_form(person: User) -> None:
    person.set_password(FORMS[0])
    person.save()
    browser = Client()
    browser.post("/accounts/login/", {"login": person.email, "password": FORMS[1]})
    assert browser.post("/accounts/reauthenticate/", {"password": FORMS[1]}).status_code == 302

    new = unicodedata.normalize("NFD", "Überall-Käse-7-Öfen")
    browser.post("/accounts/password/change/", {"oldpassword": FORMS[1], "password1": new, "password2": new})

    person.refresh_from_db()
    assert person.check_password(unicodedata.normalize("NFC", new))


@pytest.mark.parametrize(
    ("others", "offered"),
    [([], []), ([False], ["action_send", "action_remove"]), ([True], ["action_primary", "action_remove"])],
)
def test_addresses_offer_what_one_of_them_can_take(others: list[bool], offered: list[str]) -> None:
    person = PersonFactory()
    EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    for number, verified in enumerate(others):
        EmailAddress.objects.create(user=person, email=f"other{number}@example.org", verified=verified)
    browser = Client()
    browser.force_login(person)
    page = browser.get("/accounts/email/").content.decode()
    assert re.findall('name="(action_(?!add).*?)"', page) == offered
