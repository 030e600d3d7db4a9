"""Texts as PostgreSQL takes them: without a NUL, for which it has no place.

psycopg refuses such a text with an exception, so that whoever looked something up by what somebody sent would answer
500. Nothing that is stored has one, so that what is looked up is not found; forms and JSON refuse one before.
"""

from typing import Any

import psycopg
from psycopg.types.string import StrDumper, StrDumperUnknown

from common.text import without_nul


class _OfAnyType(StrDumperUnknown):
    def dump(self, obj: str) -> Any:
        return super().dump(without_nul(obj))


class _OfTypeText(StrDumper):
    def dump(self, obj: str) -> Any:
        return super().dump(without_nul(obj))


def replace_nul(connection: "psycopg.Connection[Any]") -> None:
    """From now on every text that is a parameter on this connection has U+FFFD for a NUL."""
    for dumper in (_OfTypeText, _OfAnyType):  # the last one is what psycopg takes where the type is not known
        connection.adapters.register_dumper(str, dumper)
