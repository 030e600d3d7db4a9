"""RFC 8785 in the browser, compared with an independent implementation; and the digest's members."""

import base64
import hashlib
from typing import Any

import pytest
import rfc8785

from tests.system.browser.sealing.chromium import Tab

pytestmark = pytest.mark.browser

CANONICAL = 'async (value) => (await import("/static/js/formats/canonical.js")).canonical(value)'


@pytest.mark.parametrize(
    "value",
    [
        {"b": 1, "a": [None, True, False, "x"], "": {}},
        {
            "\u20ac": "Euro",
            "\r": "CR",
            "\ufb33": "Hebrew",
            "1": "One",
            "\U0001f600": "Smiley",
            "\x80": "C",
            "\u00f6": "O",
        },
        {"text": '"\\/\b\f\n\r\t\x00\x1f\x7f\u2028<>&'},
        [0, -1, 1e21, 1e-7, 0.1, 333333333.33333329, 4.5, 2e-3, 9007199254740991, 1e23, 5e-324, 1.7976931348623157e308],
        "Suggest restaurants that you would like \u2013 near you",
    ],
)
def test_canonical_form_equals_an_independent_one(sealing_page: Tab, value: Any) -> None:
    assert sealing_page.run(CANONICAL, value) == rfc8785.dumps(value).decode()


@pytest.mark.parametrize(
    "expression",
    [
        "'a\\ud800b'",
        "{ '\\udc00': 1 }",
        "NaN",
        "[Infinity]",
        "undefined",
        "[undefined]",
        "10n",
        "new Date(0)",
        "() => 1",
    ],
)
def test_what_json_cannot_hold_has_no_canonical_form(sealing_page: Tab, expression: str) -> None:
    failed = sealing_page.run(
        f"""async () => {{
          const {{ failure }} = await import("/tests/system/browser/sealing/page.js");
          const {{ canonical }} = await import("/static/js/formats/canonical.js");
          return failure(() => canonical({expression}));
        }}"""
    )
    assert failed == ["TypeError", None]


def test_minus_zero_is_zero(sealing_page: Tab) -> None:
    assert sealing_page.run('async () => (await import("/static/js/formats/canonical.js")).canonical(-0)') == "0"


DIGEST = """async (request) => {
  const { refusal } = await import("/tests/system/browser/sealing/page.js");
  const { requestDigest } = await import("/static/js/formats/canonical.js");
  return refusal(() => requestDigest(request));
}"""


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("purpose", "Something else entirely"),
        ("access_duration", 86401),
        ("attributes", ["lifestyle.food.favorite_cuisine"]),
        ("max_reads", 5),
        ("binding_message", "47-11"),
        ("optional_attributes", None),
    ],
)
def test_digest_changes_with_every_member(sealing_page: Tab, vectors: dict[str, Any], member: str, value: Any) -> None:
    request = {**vectors["exports"][0]["request"], member: value}
    digest = base64.urlsafe_b64encode(hashlib.sha256(rfc8785.dumps(request)).digest()).rstrip(b"=").decode()
    assert sealing_page.run(DIGEST, request) == {"opened": digest}
    assert digest != vectors["exports"][0]["request_digest"]


def test_digest_refuses_a_member_too_many_or_too_few(sealing_page: Tab, vectors: dict[str, Any]) -> None:
    request = vectors["exports"][0]["request"]
    fewer = {name: value for name, value in request.items() if name != "max_reads"}
    assert sealing_page.run(DIGEST, {**request, "note": "x"}) == {"reason": "unexpected_member", "member": "note"}
    assert sealing_page.run(DIGEST, fewer) == {"reason": "missing_member", "member": "max_reads"}
