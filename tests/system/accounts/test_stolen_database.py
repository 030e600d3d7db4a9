"""What a copy of the database gives to whoever has it: no session, no second factor, no recovery code."""

import base64
import contextlib
import hmac
import json
import re
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from tests.factories import PersonFactory
from tests.factories.accounts import PASSWORD
from tests.totp import a_period_later
from tests.visitor import Visitor, secret_shown

pytestmark = pytest.mark.django_db(transaction=True)


def stolen(*words: str) -> list[str]:
    """Every text in every row of the tables whose name holds one of the words."""
    found: list[str] = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if any(word in table for word in words):
                cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
                found += [str(value) for row in cursor.fetchall() for value in row if value is not None]
    return [text for value in found for text in _read(value)]


def _read(value: str) -> Iterator[str]:
    """The value, what its JSON holds, and what its signed form holds, which takes no key to read."""
    yield value
    with contextlib.suppress(ValueError, AttributeError):
        yield from (str(member) for member in json.loads(value).values())
    packed = value.removeprefix(".").split(":")[0]
    with contextlib.suppress(ValueError, zlib.error):
        octets = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        yield (zlib.decompress(octets) if value.startswith(".") else octets).decode()


def signs_in_with_cookie(site: str, values: list[str]) -> list[str]:
    """Which of the values a browser may have as its session's cookie."""
    taken = []
    for value in {value for value in values if re.fullmatch(r"[\w.-]{8,128}", value)}:
        thief = Visitor(site)
        thief.http.cookies.set("sessionid", value)
        if thief.is_signed_in():
            taken.append(value)
    return taken


def test_a_copied_session_is_no_cookie(service: str, person: Any) -> None:
    visitor = Visitor(service)
    visitor.sign_in(person.email)
    assert visitor.is_signed_in()
    key = visitor.http.cookies["sessionid"]
    assert signs_in_with_cookie(service, [key]) == [key]

    rows = stolen("session")

    assert len(rows) > 3
    assert key not in rows
    assert signs_in_with_cookie(service, rows) == []


def test_a_copied_authenticator_makes_no_codes(service: str, person: Any) -> None:
    owner = Visitor(service)
    owner.sign_in(person.email)
    owner.submit("/accounts/reauthenticate/", {"password": PASSWORD})
    secret = owner.set_up_totp()

    rows = stolen("mfa")

    assert len(rows) > 3
    for text in rows:
        assert secret not in text
        for candidate in re.findall(r"\b[A-Z2-7]{32}\b", text):
            thief = Visitor(service)
            thief.sign_in(person.email, secret=candidate)
            assert not thief.is_signed_in()
    right = Visitor(service)
    with a_period_later():
        right.sign_in(person.email, secret=secret)
    assert right.is_signed_in()


def worked_out(seed: str) -> Iterator[str]:
    """The recovery codes of a seed, as allauth works them out; it is public arithmetic."""
    mac = hmac.new(seed.encode(), digestmod="sha1")
    for number in range(10):
        mac.update(f"{number:3},".encode())
        yield f"{int.from_bytes(mac.digest()[:4]) % 10**8:08}"


def test_copied_recovery_codes_cannot_be_worked_out(service: str, person: Any) -> None:
    owner = Visitor(service)
    owner.sign_in(person.email)
    owner.submit("/accounts/reauthenticate/", {"password": PASSWORD})
    owner.set_up_totp()
    codes = set(re.findall(r"\b\d{8}\b", owner.page("/accounts/2fa/recovery-codes/").text))

    rows = stolen("mfa")

    assert len(codes) in (9, 10)  # two may be alike
    assert max(len(codes & set(worked_out(text))) for text in rows) < 2  # one may be right by chance
    assert not any(code in text for code in codes for text in rows)


def test_a_second_factor_being_set_up_is_not_in_the_copy(service: str, person: Any) -> None:
    owner = Visitor(service)
    owner.sign_in(person.email)
    owner.submit("/accounts/reauthenticate/", {"password": PASSWORD})
    secret = secret_shown(owner.page("/accounts/2fa/totp/activate/").text)

    assert [text for text in stolen("session") if secret in text] == []


def test_signing_out_elsewhere_ends_the_other_sessions_alone(service: str, person: Any) -> None:
    here, there, stranger = Visitor(service), Visitor(service), Visitor(service)
    here.sign_in(person.email)
    there.sign_in(person.email)
    stranger.sign_in(PersonFactory().email)
    listed = here.page("/accounts/sessions/").text
    assert listed.count("Since") == 2
    assert listed.count("This browser") == 1

    here.submit("/accounts/sessions/", {})

    assert (here.is_signed_in(), there.is_signed_in(), stranger.is_signed_in()) == (True, False, True)
    assert here.page("/accounts/sessions/").text.count("Since") == 1
