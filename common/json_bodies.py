"""Answers in JSON, and the one strict way of reading it."""

import json
import math
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import orjson
from django.http import HttpResponse

from common.problems import InvalidRequest

View = TypeVar("View", bound=Callable[..., HttpResponse])

_MAX_DEPTH = 32
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)  # an unclosed one ends with the text: never scanned twice
_SUSPECT_ESCAPE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")


def json_answer(data: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """`data` as application/json; times arrive here as text, and a `datetime` raises `TypeError`."""
    return HttpResponse(_written(data), content_type="application/json", status=status, headers=dict(headers or {}))


def answers_json(view: View) -> View:
    """Marks a function that answers JSON outside of the programs' addresses: it is refused with problem details, too.

    Stands above every other decorator.
    """
    view.answers_json = True  # type: ignore[attr-defined]  # read by config.error_answers.wants_json
    return view


def _written(data: Any) -> bytes:
    try:
        return orjson.dumps(data, option=orjson.OPT_PASSTHROUGH_DATETIME)
    except TypeError:
        # whole numbers over 64 bits, which JSON allows and an agent may have answered
        return json.dumps(data, allow_nan=False, separators=(",", ":")).encode()


def strict_json(body: bytes) -> Any:
    """`body` parsed, refusing what JSON parsers like to forgive.

    Refused with `InvalidRequest`: no UTF-8, no JSON, duplicate keys, NUL, lone surrogates, NaN and Infinity, numbers
    too large to be finite, depth over 32. A byte order mark is passed over (RFC 8259, 8.1).
    """
    body = body.removeprefix(BOM_UTF8)
    if not body.strip():
        raise InvalidRequest("The body is empty; send a JSON object.")
    if body.count(b"{") + body.count(b"[") > _MAX_DEPTH:
        _refuse_depth(body)
    try:
        parsed = json.loads(
            body.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite
        )
        if _SUSPECT_ESCAPE.search(body) or b"\x00" in body:
            written = json.dumps(parsed, ensure_ascii=False).encode("utf-8")  # a lone surrogate cannot be encoded
            if b"\\u0000" in written.replace(b"\\\\", b""):  # a backslash of the text itself is doubled
                raise InvalidRequest("The body holds a NUL character.")
    except InvalidRequest:
        raise
    except UnicodeEncodeError:
        raise InvalidRequest("The body is not valid JSON: it holds a lone surrogate.") from None
    except (ValueError, RecursionError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeError) else "it cannot be parsed"
        raise InvalidRequest(f"The body is not valid JSON: {reason}.") from None
    return parsed


def _refuse_depth(body: bytes) -> None:
    depth = 0
    for byte in _STRINGS.sub(b"", body):
        if byte in b"{[":
            depth += 1
            if depth > _MAX_DEPTH:
                raise InvalidRequest(f"The body is nested deeper than {_MAX_DEPTH}.")
        elif byte in b"}]":
            depth -= 1


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidRequest("The body names a member twice.")
    return found


def _refuse_constant(name: str) -> None:
    raise InvalidRequest(f"The body holds {name}, which is not JSON.")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise InvalidRequest("The body holds a number that is too large.")
    return value
