"""What no address expects: names that no database can be asked for, broken bodies, foreign sites, a database away.

Every call is made by whoever gets furthest at the address. Nothing breaks, and every answer is in order.
"""

import re
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest
from django.db import OperationalError, ProgrammingError, connection

from tests.access.callers import PEOPLE, Caller
from tests.access.invariants import faults, in_short, traces
from tests.access.sending import Answer
from tests.access.walk import Walk, all_well, every_address, parts, welcome
from tests.addresses import ADDRESSES, Address
from tests.consent.api.test_failing import failing

_PART = re.compile(r"<(?:(\w+):)?(\w+)>")
_ON_A_PAGE = ("accounts/password/reset/", "accounts/confirm-email/")  # which says that the link does not work
NAMES = ("a%00b", "%00", "%ed%a0%80", "x" * 300, "..%2f..%2fetc")  # NUL, half of a surrogate pair
NUMBERS = ("0", "9" * 30)
# what lists and pages are asked with, and what none knows
QUERY = (
    "after", "analysis", "app", "cursor", "domain", "format", "grant", "kind", "limit", "next", "older", "operation",
    "page", "proof", "purposes", "q", "query", "receipt", "request_id", "scope", "status", "user_id", "wrong",
)  # fmt: skip
TEXTS = ("\0", "a\0b", "\ud800", "", " ", "\u202e", "x" * 5000, "../../etc/passwd", "' OR 1=1 --", "{{7*7}}", "1e999")
VALUES: tuple[Any, ...] = (*TEXTS, None, True, -1, 2**63, 10**40, [], {}, [[]], {"a": "\0"}, ["\0"])
BODIES = (
    b"", b"null", b"[]", b"0", b'""', b"{", b"{} {}", b'{"a": 1,}', b'{"a": 1, "a": 1}', b'{"a": NaN}', b'{"a": 1e999}',
    b'{"a": ' + b"9" * 6000 + b"}", b"[" * 60_000, b'{"a":' * 5_000 + b"1" + b"}" * 5_000, b'{"a": "\\u0000"}',
    b'{"a": "\\ud800"}', b'{"a": "\xff"}', b'{"a": "\xed\xa0\x80"}', b"\xef\xbb\xbf{}", '{"a": 1}'.encode("utf-16"),
    b'{"a": "' + b"x" * 70_000 + b'"}', b"a=1&b=%ff", b"&" * 3_000, b"\x1f\x8b\x08\x00", b"\x00" * 64,
    b'--x\r\nContent-Disposition: form-data; name="photo"; filename="a\\0.png"\r\n\r\n\x89PNG\r\n--x--\r\n',
)  # fmt: skip
MEDIA_TYPES = (
    "text/plain", "application/json; charset=utf-16", "application/json;;;", "multipart/form-data",
    "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "application/xml", "*/*", "/",
)  # fmt: skip
HEADERS = {
    "Accept": "*/*;q=x, text/", "Accept_Language": "de-DE,xx;q=2", "If_None_Match": 'W/"x", *', "Range": "bytes=-",
    "If_Modified_Since": "yesterday", "Last_Event_ID": "-1", "X_HTTP_Method_Override": "DELETE", "Forwarded": ";",
    "X_Forwarded_For": "a, ::1", "X_Client_Hint": "\xe9\xff", "MCP_Protocol_Version": "1999-01-01",
}  # fmt: skip


def _faults(walk: Walk, address: Address, answer: Answer) -> list[str]:
    return faults(walk, address, welcome(address), answer)


@pytest.mark.parametrize("addresses", parts(address for address in ADDRESSES if _PART.search(address.route)))
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


@pytest.mark.parametrize("addresses", parts(address for address in ADDRESSES if address.method == "GET"))
def test_a_query_that_cannot_be_read_breaks_nothing(addresses: list[Address], walk: Walk) -> None:
    """Nor does a token in it come back, or go on to where somebody is led."""
    token = walk.world.tokens["APP"]
    queries = ["&".join(f"{name}={text}" for name in QUERY) for text in ("%00", "%ed%a0%80", "9" * 30)]
    found = {}
    for address in addresses:
        for query in (*queries, f"token={token}", f"next=%2Fconsent%2F%3Ftoken%3D{token}", "a=%zz&=&&%"):
            answer = walk.ask(address, welcome(address), walk.path(address).partition("?")[0] + f"?{query}")
            if wrong := _faults(walk, address, answer):
                found[f"{address.name}?{query[:30]}"] = wrong

    all_well(found)


def _forms(fitting: dict[str, Any]) -> list[bytes]:
    """The fitting form with each of its fields changed, doubled, or taken away."""
    pairs = [(name, str(value)) for name, value in fitting.items()]
    found = [_form([(name, text) for name, _ in pairs]) for text in TEXTS]
    found += [_form([(name, value if name != changed else "\0") for name, value in pairs]) for changed in fitting]
    return [*found, _form([*pairs, *pairs]), _form([]), b"%ff=%ff&next=%00&page_of=%00"]


def _form(pairs: list[tuple[str, str]]) -> bytes:
    return urlencode([(name, value.encode("utf-8", "surrogatepass")) for name, value in pairs]).encode()


def _documents(fitting: dict[str, Any]) -> list[bytes]:
    """The fitting document with one of its members taken away, or another one in its place."""
    found = []
    for name in fitting:
        rest = {other: value for other, value in fitting.items() if other != name}
        found += [orjson.dumps(rest), *(_document({**fitting, name: value}) for value in VALUES)]
    return [*found, _document({**fitting, "wrong": "\0"}), _document({**fitting, "\0": 1})]


def _document(value: Any) -> bytes:
    import json

    return json.dumps(value).encode()


@pytest.mark.parametrize("addresses", parts(address for address in ADDRESSES if address.body is not None))
def test_a_body_that_does_not_fit_is_refused_in_words(addresses: list[Address], walk: Walk) -> None:
    found = {}
    for address in addresses:
        fitting = walk.body(address) or {}
        tried = [(body, "") for body in (_forms(fitting) if address.is_form else _documents(fitting))]
        tried += [(body, "") for body in BODIES] + [(b"x", media) for media in MEDIA_TYPES]
        for body, media in tried:
            answer = walk.ask(address, welcome(address), raw=body, media=media)
            if wrong := _faults(walk, address, answer):
                found[f"{address.name} {body[:40]!r} {media}"] = wrong

    all_well(found)


@every_address
def test_odd_headers_break_nothing(addresses: list[Address], walk: Walk) -> None:
    found = {}
    for address in addresses:
        answer = walk.ask(address, welcome(address), **HEADERS)
        if wrong := _faults(walk, address, answer):
            found[address.name] = wrong

    all_well(found)


_CHANGING = [
    address
    for address in ADDRESSES
    if address.method != "GET" and welcome(address) in PEOPLE and address.answers[Caller.OWNER] != "401"
]


@pytest.mark.parametrize("addresses", parts(_CHANGING))
def test_without_its_token_nothing_is_done(addresses: list[Address], walk: Walk) -> None:
    found = {}
    for address in addresses:
        answer, written = walk.asked(address, welcome(address), X_CSRFToken="")
        wrong = _faults(walk, address, answer) + traces(written, answer)
        if answer.status != 403:
            wrong.append(in_short(answer))
        if wrong:
            found[address.name] = wrong

    all_well(found)


@every_address
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
