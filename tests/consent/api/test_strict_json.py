"""What JSON parsers like to forgive is refused, at every address that takes a body."""

import pytest

from common import json_bodies
from tests.callers import Developer
from tests.consent.api.addresses import POSTS, Address, name_of, problem

every_post = pytest.mark.parametrize("address", POSTS, ids=name_of)

BODIES = {
    "empty": b"",
    "blank": b"  \n",
    "no JSON": b"{request_id: 1}",
    "cut off": b'{"request_id": "req_1"',
    "two values": b'{"request_id": "req_1"} {}',
    "trailing comma": b'{"request_id": "req_1",}',
    "duplicate": b'{"request_id": "req_1", "request_id": "req_1"}',
    "duplicate deep": b'{"request_id": {"a": 1, "a": 1}}',
    "NUL escaped": b'{"request_id": "req_\\u0000"}',
    "NUL in a name": b'{"request_id\\u0000": "req_1"}',
    "NUL raw": b'{"request_id": "req_\x00"}',
    "lone high surrogate": b'{"request_id": "\\ud800"}',
    "lone low surrogate": b'{"request_id": "\\udc00 x"}',
    "surrogate in a name": b'{"\\ud800": "req_1"}',
    "NaN": b'{"request_id": NaN}',
    "Infinity": b'{"request_id": Infinity}',
    "-Infinity": b'{"request_id": -Infinity}',
    "1e999": b'{"request_id": 1e999}',
    "-1e999": b'{"request_id": -1e999}',
    "many digits": b'{"request_id": ' + b"9" * 5000 + b"}",
    "depth 33": b'{"request_id": ' + b"[" * 32 + b"]" * 32 + b"}",
    "depth 33 unclosed": b'{"request_id": ' + b"[" * 32,
    "depth 60,000": b"[" * 60_000,
    "depth 30,000 closed": b"[" * 30_000 + b"]" * 30_000,
    "objects 10,000 deep": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "not UTF-8": b'{"request_id": "\xff"}',
    "UTF-16": '{"request_id": "req_1"}'.encode("utf-16"),
    "overlong": b'{"request_id": "\xc0\x80"}',
    "two byte order marks": b'\xef\xbb\xbf\xef\xbb\xbf{"request_id": "req_1"}',
    "byte order mark alone": b"\xef\xbb\xbf",
    "surrogate in UTF-8": b'{"request_id": "\xed\xa0\x80"}',
    "control character": b'{"request_id": "a\x01b"}',
    "an array": b'["req_1"]',
    "a string": b'"req_1"',
    "a number": b"1",
    "null": b"null",
}


@pytest.mark.parametrize("what", ["lone high surrogate", "lone low surrogate", "surrogate in a name"])
def test_a_lone_surrogate_is_told_as_that(what: str, api: Developer) -> None:
    answer = POSTS[0].call(api, body=BODIES[what], headers={"Content-Type": "application/json"})

    assert problem(answer) == (400, "invalid_request")
    assert "lone surrogate" in answer.json()["detail"]
    assert "UTF-8" not in answer.json()["detail"]


@pytest.mark.parametrize("what", ["not UTF-8", "UTF-16", "surrogate in UTF-8"])
def test_bytes_that_are_not_utf_8_are_told_as_that(what: str, api: Developer) -> None:
    answer = POSTS[0].call(api, body=BODIES[what], headers={"Content-Type": "application/json"})

    assert problem(answer) == (400, "invalid_request")
    assert "it is not UTF-8" in answer.json()["detail"]


@every_post
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_body_that_is_not_strict_json_is_400(address: Address, body: bytes, api: Developer) -> None:
    # named as a header too, since Django's test client leaves the type away with an empty body
    answer = address.call(api, body=body, headers={"Content-Type": "application/json"})

    assert problem(answer) == (400, "invalid_request")


@every_post
def test_depth_32_escaped_pairs_and_typed_escapes_are_read(address: Address, api: Developer) -> None:
    """They get as far as the members, which do not fit."""
    deep = address.call(api, body=b'{"bogus": ' + b"[" * 31 + b"]" * 31 + b"}")
    pair = address.call(api, body=b'{"bogus": "\\ud83d\\ude00 [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["}')

    typed = address.call(api, body=b'{"bogus": "a backslash and u0000: \\\\u0000"}')

    for answer in (deep, pair, typed):
        assert problem(answer)[0] == 400
        assert "valid JSON" not in answer.json()["detail"]
        assert "nested" not in answer.json()["detail"]
        assert "NUL" not in answer.json()["detail"]


@every_post
def test_a_byte_order_mark_before_it_is_passed_over(address: Address, api: Developer) -> None:
    """As far as the members, which do not fit."""
    answer = address.call(api, body=b'\xef\xbb\xbf{"bogus": 1}')

    assert problem(answer)[0] == 400
    assert "valid JSON" not in answer.json()["detail"]


@every_post
def test_a_refusal_does_not_echo_what_was_sent(address: Address, api: Developer) -> None:
    secret = "d-should-not-come-back"

    answer = address.call(api, body=b'{"d": "%s", "request_id": {"d": "%s"}}' % (secret.encode(), secret.encode()))

    assert problem(answer)[0] == 400
    assert secret not in answer.content.decode()


@every_post
def test_a_body_made_to_be_slow_is_refused(address: Address, api: Developer) -> None:
    answer = address.call(api, body=b"[" * 40 + b'"' + b'\\"' * 32_000)

    assert problem(answer) == (400, "invalid_request")


def test_an_unclosed_string_is_read_once() -> None:
    """Looking for depth once began anew at each of its quotes: 18 s for this one."""
    string = b'"' + b'\\"' * 32_000

    assert json_bodies._STRINGS.findall(b"[" * 40 + string) == [string]
