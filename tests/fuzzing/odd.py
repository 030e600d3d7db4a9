"""What no address expects: values, bodies, media types and headers of callers that are careless or hostile."""

import json
from typing import Any

from hypothesis import strategies as st

TEXTS = (
    "", " ", "\0", "a\0b", "\ud800", "\udc00x", "\u202e\u2066", "\u200b", "\r\nX-Injected: yes", "e\u0301" * 40,
    "\U0001f469\u200d\U0001f680", "\uffff", "\ufeff", "../../etc/passwd", "%00", "%s%n{0}{{7*7}}${7*7}",
    "' OR 1=1 --", "<script>alert(1)</script>", "null", "true", "-1", "0", "1e999", "9" * 400, "x" * 300, "x" * 5000,
    "eyJhbGciOiJub25lIn0..", "a.b.c.d.e", "vk_", "req_", "*", "attr.*", "attr.lifestyle.food.*",
    "lifestyle.food.favorite_cuisine", "2026-02-30T25:61:61Z", "0000-00-00", "١٢٣", "+49 151",
)  # fmt: skip
NUMBERS = (0, -1, 1, 2**31, 2**53, 2**63, -(2**63) - 1, 10**40, 0.1, -0.0, 1e308)
_TEXT = st.one_of(st.sampled_from(TEXTS), st.text(max_size=40))
_LEAF = st.one_of(st.none(), st.booleans(), st.integers(), st.sampled_from(NUMBERS), _TEXT)
VALUES = st.recursive(
    _LEAF, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4), max_leaves=8
)

BODIES = (
    b"", b" \n", b"null", b"[]", b"0", b'""', b"{", b"}", b"{} {}", b'{"a": 1,}', b'{"a": 1, "a": 1}', b'{"a": NaN}',
    b'{"a": -Infinity}', b'{"a": 1e999}', b'{"a": ' + b"9" * 6000 + b"}", b"[" * 40 + b"]" * 40, b"[" * 60_000,
    b'{"a":' * 5_000 + b"1" + b"}" * 5_000, b'{"a": "\\u0000"}', b'{"a": "\\ud800"}', b'{"a": "\xff"}',
    b'{"a": "\xed\xa0\x80"}', b"\xef\xbb\xbf{}", '{"a": 1}'.encode("utf-16"), b'{"a": "' + b"x" * 70_000 + b'"}',
    b'{"a": [' + b"0," * 30_000 + b"0]}", b"a=1&b=%ff", b"&" * 3_000, b"\x1f\x8b\x08\x00garbage",
    b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n", b"--x--", b"\x00" * 64,
)  # fmt: skip
MEDIA_TYPES = (
    "application/json; charset=utf-16", "application/json; charset=\xfc", "application/json;;;",
    "application/x-www-form-urlencoded", "multipart/form-data", "multipart/form-data; boundary=x",
    "multipart/form-data; boundary=" + "y" * 300, "text/plain", "text/json", "application/problem+json",
    "application/xml", "application/jose", "*/*", "a", "/", "application/json, text/html", "image/png",
)  # fmt: skip
_NAMES = (
    "Accept", "Accept-Language", "Accept-Encoding", "Content-Encoding", "Cookie", "Idempotency-Key", "If-None-Match",
    "If-Modified-Since", "Last-Event-ID", "Range", "X-Request-Id", "X-Client-Hint", "X-Forwarded-For",
    "X-Forwarded-Proto", "X-HTTP-Method-Override", "Origin", "Sec-Fetch-Site", "Referer", "A2A-Consent",
    "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id", "HX-Request", "Forwarded", "Host",
    "X-CSRFToken", "Prefer", "Authorization",
)  # fmt: skip
_HEADER_VALUES = st.one_of(
    st.sampled_from(
        [
            "",
            "*",
            "*/*",
            "application/jose",
            "text/event-stream",
            "de-DE,xx;q=2",
            "null",
            "https://evil.example",
            "cross-site",
            "bytes=0-",
            'W/"x", *',
            "Bearer",
            "Bearer ",
            "Basic eA==",
            "Bearer cr_live_x",
            "sessionid=x; csrftoken=\xff",
            "1" * 129,
            "-1",
            "2025-11-25",
            "1999-01-01",
            "127.0.0.1, ::1",
            "localhost",
            "gzip",
            "\xe9\xff",
        ]
    ),
    st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=40),
)
HEADERS = st.dictionaries(st.sampled_from(_NAMES), _HEADER_VALUES, min_size=1, max_size=3)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "get")


@st.composite
def mutated(draw: st.DrawFn, value: Any, names: tuple[str, ...]) -> Any:
    """`value` with one to three of its members, at any depth, replaced, taken away, or joined by others.

    `names` are those of things that are somebody's: they are the likeliest to be taken for others.
    """
    found = json.loads(json.dumps(value))
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(found, ()))
        if not places:
            return draw(VALUES)
        place = draw(st.sampled_from(places))
        found = _changed(found, place, draw(st.sampled_from(["replaced", "replaced", "taken", "joined"])), draw, names)
    return found


def _places(value: Any, at: tuple[Any, ...]) -> Any:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in inner:
        yield (*at, name)
        yield from _places(member, (*at, name))


def _changed(value: Any, place: tuple[Any, ...], how: str, draw: st.DrawFn, names: tuple[str, ...]) -> Any:
    parent = value
    for name in place[:-1]:
        parent = parent[name]
    if how == "taken":
        del parent[place[-1]]
    elif how == "joined" and isinstance(parent, dict):
        parent[draw(_TEXT)] = draw(VALUES)
    else:
        parent[place[-1]] = draw(st.sampled_from(names) | VALUES | near(parent[place[-1]]))
    return value


def near(value: Any) -> st.SearchStrategy[Any]:
    """What is almost this value."""
    if isinstance(value, bool) or value is None:
        return st.sampled_from(["true", 0, 1, "", [value]])
    if isinstance(value, int | float):
        return st.sampled_from([value + 1, value - 1, -value, str(value), value * 10**12, float(value)])
    if isinstance(value, str):
        return st.sampled_from(
            [
                value + " ",
                value.upper(),
                value[:-1],
                value[::-1],
                value + "\0",
                value + value,
                f"{value}=",
                [value],
                value + "\n",
            ]
        )
    return st.sampled_from([[value], {"a": value}, [], {}])


@st.composite
def written(draw: st.DrawFn, value: Any) -> bytes:
    """As JSON: for the most part as everybody writes it, at times in a way that readers differ on."""
    if draw(st.sampled_from(range(10))) < 9:
        return json.dumps(value).encode()
    text = json.dumps(value, ensure_ascii=False, indent=draw(st.sampled_from([None, 3])))
    return draw(st.sampled_from([text, f"\n\t{text} ", f"{text},", f"\ufeff{text}"])).encode("utf-8", "surrogatepass")
