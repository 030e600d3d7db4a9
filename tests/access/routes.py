"""The addresses of the URL configuration, each as the register names it."""

import re
from collections.abc import Iterator
from typing import Any

from django.urls import get_resolver

_NAMED_GROUP = re.compile(r"\(\?P<(\w+)>[^()]*(?:\([^()]*\)[^()]*)*\)")


def every_route() -> list[str]:
    """The routes, in the order in which Django tries them, with named groups of regular expressions as `<name>`."""
    return [plain_route(route) for route in _walk(get_resolver().url_patterns, "")]


def _walk(patterns: Any, prefix: str) -> Iterator[str]:
    for entry in patterns:
        route = prefix + str(entry.pattern)
        if hasattr(entry, "url_patterns"):
            yield from _walk(entry.url_patterns, route)
        else:
            yield route


def plain_route(route: str) -> str:
    """As the register spells it."""
    named = _NAMED_GROUP.sub(r"<\1>", route)
    return named.replace("^", "").replace("$", "").replace("\\.", ".")
