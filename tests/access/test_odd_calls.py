"""What no address expects: names that no database can be asked for, broken bodies, foreign sites, a database away.

Every call is made by whoever gets furthest at the address. Nothing breaks, and every answer is in order.
"""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import OperationalError, ProgrammingError, connection

from tests.access.invariants import faults, in_short, traces, undocumented
from tests.access.sending import Answer
from tests.access.walk import Walk, all_well, parts, welcome
from tests.addresses import ADDRESSES, PEOPLE, Address
from tests.consent.api.test_failing import failing

_PART = re.compile(r"<(?:(\w+):)?(\w+)>")
_ON_A_PAGE = ("accounts/password/reset/", "accounts/confirm-email/")  # which says that the link does not work
NAMES = ("a%00b", "%ed%a0%80", "x" * 300)  # NUL, half of a surrogate pair
NUMBERS = ("0", "9" * 30)
# what lists and pages are asked with, and what none knows
QUERY = (
    "after", "analysis", "app", "cursor", "domain", "format", "grant", "kind", "limit", "next", "older", "operation",
    "page", "proof", "purposes", "q", "query", "receipt", "request_id", "scope", "status", "user_id", "wrong",
)  # fmt: skip
TEXTS = ("\0", "\ud800")
VALUES: tuple[Any, ...] = (*TEXTS, None, 10**40, ["\0"])
BODIES = (b"{", b'{"a": 1, "a": 1}', b'{"a": "\\u0000"}', b'{"a": "\\ud800"}', b'{"a":' * 500 + b"1" + b"}" * 500)
FORMS = (b"a=1&b=%ff", b"&" * 3_000)
# what one reader refuses for all addresses: sent to the first of each room
MORE_BODIES = (
    b"", b"null", b"[]", b"0", b'""', b"{} {}", b'{"a": 1,}', b'{"a": NaN}', b'{"a": 1e999}', b"[" * 60_000,
    b'{"a": ' + b"9" * 6000 + b"}", b'{"a": "\xff"}', b'{"a": "\xed\xa0\x80"}', b"\xef\xbb\xbf{}",
    '{"a": 1}'.encode("utf-16"), b'{"a": "' + b"x" * 70_000 + b'"}', b"\x1f\x8b\x08\x00",
    b'--x\r\nContent-Disposition: form-data; name="photo"; filename="a\\0.png"\r\n\r\n\x89PNG\r\n--x--\r\n',
)  # fmt: skip
MEDIA_TYPES = (
    "application/json; charset=utf-16", "application/json;;;", "multipart/form-data",
    "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "application/xml", "*/*", "/",
)  # fmt: skip
HEADERS = {
    "Accept": "*/*;q=x, text/", "Accept_Language": "de-DE,xx;q=2", "If_None_Match": 'W/"x", *', "Range": "bytes=-",
    "If_Modified_Since": "yesterday", "Last_Event_ID": "-1", "X_HTTP_Method_Override": "DELETE", "Forwarded": ";",
    "X_Forwarded_For": "a, ::1", "X_Client_Hint": "\xe9\xff", "MCP_Protocol_Version": "1999-01-01",
}  # fmt: skip


def _faults(walk: Walk, address: Address, answer: Answer) -> list[str]:
    return faults(walk, address, welcome(address), answer)


# the admin's addresses differ in what they are about, not in how they read it
_READ_ALIKE = re.compile(r"admin/\w+/\w+/(add/|<path:object_id>/(history/|delete/)?)$")
_SEVERAL = [address for address in ADDRESSES if not _READ_ALIKE.match(address.route)]


@pytest.mark.parametrize("addresses", parts(address for address in _SEVERAL if _PART.search(address.route)))
def test_a_name_that_cannot_be_read_is_one_that_is_not_there(addresses: list[Address], walk: Walk) -> None:
    found = {}
    for address in addresses:
        for kind, name in _PART.findall(address.route):
            for text in NUMBERS if kind == "int" else NAMES:
                answer = walk.ask(address, welcome(address), walk.path(address, **{name: text}))
                wrong = _faults(walk, address, answer)
                if answer.status < 300 and not address.route.startswith(_ON_A_PAGE):
                    wrong.append(in_short(answer))
                if wrong:
                    found[f"{address.name}, {name} {text[:20]}"] = wrong

    all_well(found)


@pytest.mark.parametrize("addresses", parts(address for address in _SEVERAL if address.method == "GET"))
def test_a_query_that_cannot_be_read_breaks_nothing(addresses: list[Address], walk: Walk) -> None:
    """Nor does a token in it come back, or go on to where somebody is led."""
    token = walk.world.tokens["APP"]
    queries = ["&".join(f"{name}={text}" for name in QUERY) for text in ("%00", "%ed%a0%80")]
    leading_on = (f"token={token}", f"next=%2Fconsent%2F%3Ftoken%3D{token}&a=%zz&=&&%")
    found = {}
    for address in addresses:
        for query in queries if address.room == "admin" else (*queries, *leading_on):
            answer = walk.ask(address, welcome(address), walk.path(address).partition("?")[0] + f"?{query}")
            if wrong := _faults(walk, address, answer):
                found[f"{address.name}?{query[:30]}"] = wrong

    all_well(found)


def _form(fitting: dict[str, Any]) -> bytes:
    pairs = [(name, str(value).encode("utf-8", "surrogatepass")) for name, value in fitting.items()]
    return urlencode(pairs).encode()


def _document(fitting: dict[str, Any]) -> bytes:
    return json.dumps(fitting).encode()


def _changed(fitting: dict[str, Any], values: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """What fits with one of its members taken away, or with another value, or with one that nobody knows."""
    for name in fitting:
        yield {other: value for other, value in fitting.items() if other != name}
        yield from ({**fitting, name: value} for value in values)
    yield {**fitting, "wrong\0": "\0", "next": "\0", "page_of": "\0"}


_WITH_A_BODY = [address for address in ADDRESSES if address.body is not None]
_FIRST = [next(several) for _, several in groupby(_WITH_A_BODY, key=lambda one: (one.room, one.is_form))]


@pytest.mark.parametrize("addresses", parts(_WITH_A_BODY, most=5))
def test_a_body_that_does_not_fit_is_refused_in_words(addresses: list[Address], walk: Walk) -> None:
    found = {}
    for address in addresses:
        fitting = walk.body(address) or {}
        write, values = (_form, TEXTS) if address.is_form else (_document, VALUES)
        tried = [(write(changed), "") for changed in _changed(fitting, values)]
        tried += [(body, "") for body in (FORMS if address.is_form else BODIES)] + [(b"a", "text/plain")]
        if address in _FIRST:
            tried += [(body, "") for body in MORE_BODIES] + [(b"a", media) for media in MEDIA_TYPES]
        for body, media in tried:
            answer = walk.ask(address, welcome(address), raw=body, media=media)
            if wrong := _faults(walk, address, answer) + undocumented(address, answer):
                found[f"{address.name} {body[:40]!r} {media}"] = wrong

    all_well(found)


@pytest.mark.parametrize("addresses", parts(address for address in ADDRESSES if address.method == "DELETE"))
def test_nothing_is_deleted_with_a_member_that_nobody_knows(addresses: list[Address], walk: Walk) -> None:
    found = {}
    for address in addresses:
        path = walk.path(address)
        query = f"{path}{'&' if '?' in path else '?'}wrong=1"
        body = _document({**(walk.body(address) or {}), "wrong": 1})
        answers = [walk.ask(address, welcome(address), query), walk.ask(address, welcome(address), raw=body)]
        if {answer.code for answer in answers} != {"invalid_request"}:
            found[address.name] = [in_short(answer) for answer in answers]

    all_well(found)


@pytest.mark.parametrize("addresses", parts(_SEVERAL))
def test_odd_headers_break_nothing(addresses: list[Address], walk: Walk) -> None:
    found = {}
    for address in addresses:
        elsewhere = walk.ask(address, welcome(address), Host="elsewhere.example")
        for answer in (walk.ask(address, welcome(address), **HEADERS), elsewhere):
            if wrong := _faults(walk, address, answer):
                found[address.name] = wrong

    all_well(found)


# no session opens these
_OF_PROGRAMS = (
    "api/v1/",
    "api/a2a/messaging/reports",
    "api/a2a/messaging/inbound",
    "api/a2a/financial/webhooks",
    "oauth/register",
    "oauth/token",
    "oauth/revoke",
)
_CHANGING = [
    address
    for address in ADDRESSES
    if address.method != "GET" and welcome(address) in PEOPLE and not address.route.startswith(_OF_PROGRAMS)
]


@pytest.mark.parametrize("addresses", parts(_CHANGING))
def test_without_its_token_nothing_is_done(addresses: list[Address], walk: Walk) -> None:
    found = {}
    for address in addresses:
        answer, written = walk.ask_and_note(address, welcome(address), X_CSRFToken="")
        wrong = _faults(walk, address, answer) + traces(address, written, answer)
        if answer.status != 403:
            wrong.append(in_short(answer))
        if wrong:
            found[address.name] = wrong

    all_well(found)


@pytest.mark.parametrize("addresses", parts(_SEVERAL))
def test_with_the_database_away_nothing_is_told_but_that(addresses: list[Address], walk: Walk) -> None:
    found = {}
    for address in addresses:
        for error, status in ((OperationalError, 503), (ProgrammingError, 500)):
            away = connection.execute_wrapper(failing(error=error))
            answer = walk.ask(address, welcome(address), during=away)
            wrong = [fault for fault in _faults(walk, address, answer) if not fault.startswith(f"{status}:")]
            if answer.status >= 500 and answer.status != status:
                wrong.append(in_short(answer))
            if b"10.0.0.7" in answer.body:
                wrong.append("it says where the database is")
            if answer.status == 503 and not int(answer.headers.get("Retry-After", "0")):
                wrong.append("it does not say when to come again")
            if wrong:
                found[f"{address.name}, {error.__name__}"] = wrong

    all_well(found)
