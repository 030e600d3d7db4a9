"""Signing up with a passkey alone, without a browser: what the two pages refuse, and what they leave behind.

tests/system/browser/test_passkey_sign_up.py makes real passkeys; here a software key answers the challenge.
"""

import json
import re
import secrets
import time
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from django.core import mail
from django.test import Client
from fido2.cose import ES256
from fido2.utils import sha256, websafe_encode
from fido2.webauthn import AttestationObject, AttestedCredentialData, AuthenticatorData, CollectedClientData

from accounts.models import SecurityChange, User
from tests.factories import PersonFactory
from tests.factories.accounts import PASSWORD

pytestmark = pytest.mark.django_db
ADDRESS, CREATE = "/accounts/signup/passkey/", "/accounts/signup/passkey/create/"
HOST = "testserver"
UP_UV = AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.UV


class SoftwareKey:
    """One credential, as an authenticator holds it."""

    def __init__(self) -> None:
        self.private, self.id = ec.generate_private_key(ec.SECP256R1()), secrets.token_bytes(32)
        self.handle = b""

    def create(self, options: dict[str, Any], *, flags: AuthenticatorData.FLAG = UP_UV, **client: str) -> str:
        """The answer to creation options, as the page's script sends it."""
        public = options["publicKey"]
        self.handle = _bytes(public["user"]["id"])
        attested = AttestedCredentialData.create(
            b"\0" * 16, self.id, ES256.from_cryptography_key(self.private.public_key())
        )
        data = AuthenticatorData.create(sha256(HOST.encode()), flags | AuthenticatorData.FLAG.AT, 0, attested)
        client_data = _client_data("webauthn.create", client.get("challenge", public["challenge"]))
        response = {
            "clientDataJSON": websafe_encode(client_data),
            "attestationObject": websafe_encode(AttestationObject.create("none", data, {})),
        }
        extensions = {"credProps": {"rk": True}}
        return json.dumps(self._named() | {"response": response, "clientExtensionResults": extensions})

    def answer(self, options: dict[str, Any], *, handle: bytes | None = None) -> str:
        """The answer to request options of a sign-in."""
        data = AuthenticatorData.create(sha256(HOST.encode()), UP_UV, 1)
        client_data = _client_data("webauthn.get", options["publicKey"]["challenge"])
        signature = self.private.sign(data + sha256(client_data), ec.ECDSA(hashes.SHA256()))
        response = {
            "clientDataJSON": websafe_encode(client_data),
            "authenticatorData": websafe_encode(data),
            "signature": websafe_encode(signature),
            "userHandle": websafe_encode(self.handle if handle is None else handle),
        }
        return json.dumps(self._named() | {"response": response, "clientExtensionResults": {}})

    def _named(self) -> dict[str, Any]:
        return {"id": websafe_encode(self.id), "rawId": websafe_encode(self.id), "type": "public-key"}


def _bytes(given: Any) -> bytes:
    from fido2.utils import websafe_decode

    return given if isinstance(given, bytes) else websafe_decode(given)


def _client_data(kind: str, challenge: Any) -> bytes:
    return CollectedClientData.create(type=kind, challenge=_bytes(challenge), origin=f"http://{HOST}")


def options_of(client: Client) -> dict[str, Any]:
    page = client.get(CREATE)
    assert page.status_code == 200
    return page.context["js_data"]["creation_options"]


def begin(email: str = "ann@example.org", **more: str) -> Client:
    client = Client()
    assert client.post(ADDRESS, {"email": email, **more}).headers["Location"] == CREATE
    return client


def sign_up(key: SoftwareKey, client: Client | None = None) -> Any:
    client = client or begin()
    return client.post(CREATE, {"credential": key.create(options_of(client))})


def sign_in(credential: Any) -> Any:
    client = Client()
    options = client.get("/accounts/2fa/webauthn/login/", headers={"Accept": "application/json"}).json()
    made = credential(options["request_options"])
    return client, client.post("/accounts/2fa/webauthn/login/", {"credential": made})


def test_an_account_comes_with_its_passkey_and_no_password() -> None:
    key, client = SoftwareKey(), begin()

    answer = sign_up(key, client)

    user = User.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (302, "/vault/setup/")
    assert key.handle.decode() == user.public_id
    assert (user.email, user.has_usable_password()) == ("ann@example.org", False)
    assert [(it.user_id, it.type) for it in Authenticator.objects.all()] == [(user.pk, "webauthn")]
    assert EmailAddress.objects.get(user=user).email == "ann@example.org"
    page = client.get("/account/security/")
    assert page.context["fresh"] is True
    assert "You sign in with one passkey alone" in page.content.decode()


def test_it_goes_on_where_the_sign_up_began() -> None:
    assert sign_up(SoftwareKey(), begin(next="/consent/inbox/")).headers["Location"] == "/consent/inbox/"


def test_another_address_goes_on_there_as_well() -> None:
    client = begin(next="/consent/inbox/")
    assert f'href="{ADDRESS}?next=%2Fconsent%2Finbox%2F"' in client.get(CREATE).content.decode()

    made = SoftwareKey().create(options_of(client))
    PersonFactory(email="ann@example.org")

    assert client.post(CREATE, {"credential": made}).headers["Location"] == f"{ADDRESS}?next=%2Fconsent%2Finbox%2F"


def test_it_never_goes_on_elsewhere() -> None:
    assert sign_up(SoftwareKey(), begin(next="https://example.net/")).headers["Location"] == "/vault/setup/"


def test_the_passkey_signs_in() -> None:
    key = SoftwareKey()
    sign_up(key)

    client, answer = sign_in(key.answer)

    assert answer.status_code == 302
    assert client.get("/account/security/").status_code == 200


def test_a_passkey_that_names_the_row_is_refused() -> None:
    key = SoftwareKey()
    sign_up(key)
    number = user_pk_to_url_str(User.objects.get()).encode()

    client, _ = sign_in(lambda options: key.answer(options, handle=number))

    assert client.get("/account/security/").status_code == 302


@pytest.mark.parametrize("handle", [b"", b"usr_nobody", b"\xff\xfe", b"0", b"-1", b"9" * 60])
def test_a_passkey_that_names_nobody_is_refused(handle: bytes) -> None:
    key = SoftwareKey()
    sign_up(key)

    client, answer = sign_in(lambda options: key.answer(options, handle=handle))

    assert answer.status_code in (200, 302)
    assert client.get("/account/security/").status_code == 302


def test_a_passkey_of_somebody_else_is_refused() -> None:
    mine, theirs = SoftwareKey(), SoftwareKey()
    sign_up(mine)
    sign_up(theirs, begin("ben@example.org"))

    client, _ = sign_in(lambda options: mine.answer(options, handle=theirs.handle))

    assert client.get("/account/security/").status_code == 302


def test_without_an_address_there_is_no_second_page() -> None:
    assert Client().get(CREATE).headers["Location"] == ADDRESS
    assert Client().post(CREATE, {"credential": "{}"}).headers["Location"] == ADDRESS


def test_an_address_waits_half_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    client, now = begin(), time.time()
    monkeypatch.setattr("accounts.sign_in.passkeys.time.time", lambda: now + 1801)
    assert client.get(CREATE).headers["Location"] == ADDRESS


@pytest.mark.parametrize("method", ["put", "delete", "patch"])
@pytest.mark.parametrize("address", [ADDRESS, CREATE])
def test_other_methods_are_refused(address: str, method: str) -> None:
    assert getattr(begin(), method)(address).status_code == 405


def test_whoever_is_signed_in_goes_on() -> None:
    client = begin()
    client.force_login(PersonFactory())
    assert client.get(ADDRESS).status_code == 302
    assert client.get(CREATE).status_code == 302


@pytest.mark.parametrize("email", ["", "ann", "a" * 255 + "@example.org", "ann@example.org\x00"])
def test_a_bad_address_is_told(email: str) -> None:
    page = Client().post(ADDRESS, {"email": email})
    assert page.status_code == 200
    assert page.context["form"].errors["email"]


DEEP = '{"a":' * 5000
DEEP_CBOR = websafe_encode(b"\x81" * 100_000)
TOO_DEEP = [
    "[" * 5000, f"{DEEP}1{'}' * 5000}",
    f'{{"id": "eA", "rawId": "eA", "type": "public-key", "response": {{"clientDataJSON": "e30", '
    f'"attestationObject": "{DEEP_CBOR}", "authenticatorData": "{DEEP_CBOR}", "signature": "eA"}}}}',
]  # fmt: skip


@pytest.mark.parametrize("credential", TOO_DEEP, ids=["list", "object", "cbor"])
@pytest.mark.parametrize(
    "page", [CREATE, *(f"/accounts/2fa/webauthn/{at}/" for at in ("login", "reauthenticate", "add"))]
)
def test_what_is_nested_too_deep_is_no_passkey(page: str, credential: str) -> None:
    client = begin()
    if page == CREATE:
        options_of(client)
    elif "login" not in page:
        sign_up(SoftwareKey(), client)
        EmailAddress.objects.update(verified=True)

    answer = client.post(page, {"credential": credential, "name": "Blue key"})

    assert answer.status_code in (200, 302)
    assert "could not be checked" in answer.content.decode() or page != CREATE


@pytest.mark.parametrize("credential", ["", "{", "[]", "null", "3", '{"id": 1}', '{"id": "x", "response": {}}', "{}"])
def test_what_is_no_passkey_makes_no_account(credential: str) -> None:
    client = begin()
    options_of(client)

    page = client.post(CREATE, {"credential": credential})

    assert page.status_code == 200
    assert "could not be checked" in page.content.decode()
    assert not User.objects.exists()


@pytest.mark.parametrize(
    "answer", ["[]", "3", '{"id": 1}', '{"id": "x", "rawId": "eA", "response": []}', '{"response": null}']
)
@pytest.mark.parametrize("page", ["login", "reauthenticate", "add"])
def test_no_page_falls_over_what_is_no_passkey(page: str, answer: str) -> None:
    key, client = SoftwareKey(), begin()
    sign_up(key, client)
    EmailAddress.objects.update(verified=True)
    caller = Client() if page == "login" else client

    response = caller.post(f"/accounts/2fa/webauthn/{page}/", {"credential": answer, "name": "Blue key"})

    assert response.status_code in (200, 302)
    assert Authenticator.objects.count() == 1


def test_a_passkey_for_another_challenge_is_refused() -> None:
    client = begin()
    made = SoftwareKey().create(options_of(client), challenge=websafe_encode(secrets.token_bytes(32)))
    assert client.post(CREATE, {"credential": made}).status_code == 200
    assert not User.objects.exists()


def test_a_passkey_that_did_not_check_the_person_is_refused() -> None:
    client = begin()
    made = SoftwareKey().create(options_of(client), flags=AuthenticatorData.FLAG.UP)
    assert client.post(CREATE, {"credential": made}).status_code == 200
    assert not User.objects.exists()


def test_the_same_passkey_twice_makes_one_account() -> None:
    client, key = begin(), SoftwareKey()
    made = key.create(options_of(client))
    assert client.post(CREATE, {"credential": made}).headers["Location"] == "/vault/setup/"
    assert client.post(CREATE, {"credential": made}).status_code == 302
    assert User.objects.count() == 1


def test_an_address_that_is_taken_is_told_where_addresses_are_not_confirmed() -> None:
    PersonFactory(email="ann@example.org")
    page = Client().post(ADDRESS, {"email": "ann@example.org"})
    assert page.status_code == 200
    assert page.context["form"].errors["email"]


def test_an_address_taken_meanwhile_makes_no_account() -> None:
    client = begin()
    made = SoftwareKey().create(options_of(client))
    PersonFactory(email="ann@example.org")

    assert client.post(CREATE, {"credential": made}).headers["Location"] == ADDRESS
    assert User.objects.count() == 1
    assert not Authenticator.objects.exists()


def test_where_addresses_are_confirmed_a_taken_one_looks_the_same(settings: Any) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    PersonFactory(email="ann@example.org")

    taken, new = sign_up(SoftwareKey()), sign_up(SoftwareKey(), begin("ben@example.org"))

    assert (taken.status_code, taken.headers["Location"]) == (new.status_code, new.headers["Location"])
    assert sorted(it.to[0] for it in mail.outbox) == ["ann@example.org", "ben@example.org"]
    assert User.objects.count() == 2
    assert Authenticator.objects.count() == 1


def test_where_addresses_are_confirmed_nobody_is_signed_in_before(settings: Any) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    client, key = begin(), SoftwareKey()
    sign_up(key, client)
    assert client.get("/account/security/").status_code == 302
    EmailAddress.objects.update(verified=True)

    signed_in, _ = sign_in(key.answer)

    assert signed_in.get("/account/security/").status_code == 200


@pytest.mark.parametrize("by", ["passkey", "password"])
def test_whoever_confirms_the_address_goes_on_where_the_sign_up_began(settings: Any, by: str) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    if by == "passkey":
        sign_up(SoftwareKey(), client := begin(next="/consent/inbox/"))
    else:
        form = {"email": "ann@example.org", "password1": PASSWORD, "next": "/consent/inbox/"}
        (client := Client()).post("/accounts/signup/", form)
    link = re.search(r"/accounts/confirm-email/[^\s]+", str(mail.outbox[0].body))
    assert link

    for browser, leads_to in ((client, "%2Fconsent%2Finbox%2F"), (Client(), "%2Fvault%2Fsetup%2F")):
        EmailAddress.objects.update(verified=False)
        assert browser.post(link[0]).headers["Location"] == f"/accounts/login/?next={leads_to}"


def mailed(pattern: str) -> str:
    """The newest link of this kind."""
    links = [found[0] for sent in mail.outbox if (found := re.search(rf"/accounts/{pattern}/[^\s]+", str(sent.body)))]
    return links[-1]


def reset_password(email: str = "ann@example.org") -> None:
    """By whoever reads the mail to this address."""
    browser = Client()
    browser.post("/accounts/password/reset/", {"email": email})
    form = browser.get(mailed("password/reset/key"), follow=True)
    new = {"password1": PASSWORD, "password2": PASSWORD}
    assert browser.post(form.request["PATH_INFO"], new).status_code == 302


def signs_in_with_password() -> bool:
    browser = Client()
    browser.post("/accounts/login/", {"login": "ann@example.org", "password": PASSWORD})
    return browser.get("/account/security/").status_code == 200


def signs_in_with(key: SoftwareKey) -> bool:
    client, _ = sign_in(key.answer)
    return client.get("/account/security/").status_code == 200


@pytest.mark.parametrize("confirmed", ["never", "after", "before"])
def test_a_reset_by_the_mailbox_takes_away_the_passkey_of_whoever_signed_up_with_the_address(
    settings: Any, confirmed: str
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    sign_up(key := SoftwareKey())  # of somebody who does not read its mail
    link = mailed("confirm-email")

    if confirmed == "before":
        assert Client().post(link).status_code == 302
    reset_password()
    if confirmed == "after":
        assert Client().post(link).status_code == 302

    assert not Authenticator.objects.exists()
    assert not signs_in_with(key)
    assert signs_in_with_password() is (confirmed != "never")
    assert SecurityChange.objects.filter(kind="webauthn_removed").exists()


def test_a_passkey_of_the_browser_that_confirmed_the_address_outlasts_a_reset(settings: Any) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    sign_up(key := SoftwareKey(), client := begin())
    assert client.post(mailed("confirm-email")).status_code == 302

    reset_password()

    assert signs_in_with(key)
    assert not signs_in_with_password()


def test_a_passkey_signs_in_though_another_browser_confirmed_the_address(settings: Any) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    sign_up(key := SoftwareKey())
    Client().post(mailed("confirm-email"))
    assert signs_in_with(key)


def test_an_address_that_somebody_only_added_is_free_to_sign_up_by_passkey(settings: Any) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    EmailAddress.objects.create(user=PersonFactory(), email="ann@example.org")
    sign_up(SoftwareKey())
    assert EmailAddress.objects.get(email="ann@example.org").user == User.objects.get(email="ann@example.org")


def test_sign_ups_of_a_network_are_counted(settings: Any) -> None:
    settings.SIGN_UPS_PER_NETWORK = 2
    for name in ("a", "b"):
        begin(f"{name}@example.org")
    assert Client().post(ADDRESS, {"email": "c@example.org"}).status_code == 429
