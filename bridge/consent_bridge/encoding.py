"""Strict readers: base64url as RFC 7515 writes it, and JSON without what two parsers could read in two ways."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from typing import Any

from consent_bridge.errors import Refused

_BASE64URL = re.compile(r"[A-Za-z0-9_-]*\Z")


def encode_base64url(data: bytes) -> str:
    """Bytes as base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode_base64url(text: object, what: str) -> bytes:
    """Base64url without padding as bytes; refuses the standard alphabet, padding and a tail with stray bits."""
    if not isinstance(text, str):
        raise Refused(f"{what} is not text", member=what)
    if not _BASE64URL.match(text) or len(text) % 4 == 1:
        raise Refused(f"{what} is not base64url without padding", member=what)
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
    except binascii.Error as error:
        raise Refused(f"{what} is not base64url without padding", member=what) from error
    # Only the last group can hold stray bits, so only it is compared: the rest may be 16 MiB.
    if encode_base64url(data[-(len(data) % 3) :] if len(data) % 3 else b"") != text[len(text) - len(text) % 4 :]:
        raise Refused(f"{what} is not canonical base64url", member=what)
    return data


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a member is given twice")
    return result


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is out of range")
    return value


def parse_json(data: bytes | str, what: str) -> Any:
    """JSON in UTF-8; refuses duplicate members, NaN, numbers out of range, lone surrogates and endless nesting."""
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
    except UnicodeDecodeError as error:
        raise Refused(f"{what} is not UTF-8") from error
    try:
        value = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant, parse_float=_finite)
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        raise Refused(f"{what} is not JSON ({error.msg})") from error
    except UnicodeEncodeError as error:
        raise Refused(f"{what} holds a lone surrogate") from error
    except RecursionError as error:
        raise Refused(f"{what} is nested too deep") from error
    except ValueError as error:
        reason = "a number is too long" if "integer string conversion" in str(error) else str(error)
        raise Refused(f"{what} is not JSON that we read ({reason})") from error
    return value


def parse_object(data: bytes | str, what: str) -> dict[str, Any]:
    """The same, for what has to be a JSON object."""
    value = parse_json(data, what)
    if not isinstance(value, dict):
        raise Refused(f"{what} is not a JSON object")
    return value


def dump_json(value: object, what: str) -> bytes:
    """A value as compact JSON in UTF-8; refuses what JSON cannot hold."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise Refused(f"{what} cannot be written as JSON ({error})") from error
