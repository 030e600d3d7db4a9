"""Whether an answer is what its shape says: the same members in the same order, strictly of their types.

That answers are is seen at every address in tests/access, by the document that the shapes make, and in tests/answers.
"""

import typing
from collections.abc import Iterator
from typing import Any, get_args, get_origin

import orjson
import pytest
from pydantic import TypeAdapter
from typing_extensions import get_type_hints, is_typeddict

from common.shapes import ProblemField
from consent import shapes


def orders(hint: Any, value: Any) -> Iterator[tuple[list[str], list[str]]]:
    """(members of the shape, members of the answer) of every object inside."""
    if get_origin(hint) is typing.Annotated:
        hint = get_args(hint)[0]
    if is_typeddict(hint):
        hints = get_type_hints(hint, include_extras=True)
        yield [name for name in hints if name in value or name in hint.__required_keys__], list(value)
        for name, inner in hints.items():
            if name in value:
                yield from orders(get_args(inner)[0] if get_origin(inner) is typing.NotRequired else inner, value[name])
    elif get_origin(hint) is list:
        for item in value:
            yield from orders(get_args(hint)[0], item)
    elif value is not None:
        for inner in get_args(hint):
            if is_typeddict(inner):
                yield from orders(inner, value)


def fits(shape: Any, content: bytes) -> None:
    TypeAdapter(shape).validate_json(content, strict=True)
    compared = list(orders(shape, orjson.loads(content)))
    assert compared
    for members, found in compared:
        assert found == members


@pytest.mark.parametrize(
    "change", [{"reads": "0"}, {"status": "gone"}, {"more": 1}], ids=["another type", "unknown state", "one too many"]
)
def test_what_does_not_fit_is_found(change: dict[str, Any]) -> None:
    grant = {
        "grant_id": "grt_a",
        "status": "active",
        "expires_at": "2026-11-20T10:00:00Z",
        "reads": 0,
        "reads_remaining": None,
        "approved_attributes": [],
        "export_revision": 1,
    }
    fits(shapes.Grant, orjson.dumps(grant))

    with pytest.raises(ValueError, match="validation error"):
        fits(shapes.Grant, orjson.dumps(grant | change))


def test_another_order_is_found() -> None:
    with pytest.raises(AssertionError):
        fits(ProblemField, b'{"code": "a", "field": "b", "message": "c"}')
