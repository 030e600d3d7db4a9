"""The body of an upstream's answer as JSON in UTF-8, however it was encoded (pure)."""

import re
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE

from agents_proxy.errors import InvalidAgentResponse

LONGEST = 4 * 1024 * 1024  # bytes of what was compressed
_GZIP = b"\x1f\x8b"
_NO_NUMBER = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|(?<![\w.])-?(?:NaN|Infinity)(?![\w.])', re.DOTALL)


def as_json(body: bytes) -> bytes:
    """`body` without compression and byte order mark, in UTF-8, with null for what is no number in JSON.

    Raises `InvalidAgentResponse` for what is cut off, does not decode, or is larger than `LONGEST`.
    """
    body = _utf8(_unpacked(body))
    if b"NaN" in body or b"Infinity" in body:
        body = _NO_NUMBER.sub(lambda found: found[0] if found[0][:1] == b'"' else b"null", body)
    return body


def _unpacked(body: bytes) -> bytes:
    """What was compressed although nobody asked for that."""
    if not body.startswith(_GZIP):
        return body
    reader = zlib.decompressobj(wbits=31)
    try:
        found = reader.decompress(body, LONGEST + 1)
    except zlib.error:
        raise InvalidAgentResponse from None
    if not reader.eof or len(found) > LONGEST:
        raise InvalidAgentResponse
    return found


def _utf8(body: bytes) -> bytes:
    is_utf16 = body.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or b"\x00" in body[:2]  # every JSON text begins in ASCII
    if not is_utf16:
        return body.removeprefix(BOM_UTF8)
    name = "utf-16" if body.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-16-be" if body[0] == 0 else "utf-16-le"
    try:
        return body.decode(name).encode()
    except UnicodeError:
        raise InvalidAgentResponse from None
