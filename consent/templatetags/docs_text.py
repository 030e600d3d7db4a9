"""Backticks in documentation texts, as code."""

from django import template

from common.text import StrOrPromise

register = template.Library()


@register.filter
def code_pieces(text: "StrOrPromise") -> list[tuple[str, bool]]:
    """`text` cut at its backticks: pieces, and whether each is code."""
    return [(piece, position % 2 == 1) for position, piece in enumerate(str(text).split("`")) if piece]
