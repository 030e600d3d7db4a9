"""How a connection of psycopg behaves: texts without a NUL, whether a pooler is in between, and when it is given up.

PostgreSQL has no place for a NUL in a text, and psycopg refuses one with an exception, so that whoever looked something
up by what somebody sent would answer 500. Nothing that is stored has one: what is looked up is not found, and forms and
JSON refuse one before.

Behind a pooler in transaction mode, what belongs to a session meets that of other clients. Prepared statements are the
dangerous part: every client numbers its own from 0, so one client's number 3 runs another's statement, with success
where the parameters fit. LISTEN hears nothing there.
"""

import socket
from contextlib import suppress
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


def leads_through_pooler(connection: psycopg.Connection[Any]) -> bool:
    """Whether another process answers than was named at the start; a pooler that keeps sessions apart counts too.

    PostgreSQL tells each client at the start which of its processes serves it. A pooler answers that start itself, with
    numbers of its own, since no one process serves the client.
    Leaves a transaction open where the connection is not in autocommit.
    """
    serving = psycopg.Cursor(connection).execute("SELECT pg_backend_pid()").fetchone()
    return serving is None or serving[0] != connection.info.backend_pid


def end_without_client(connection: psycopg.Connection[Any]) -> None:
    """From now on PostgreSQL ends this session within 20 s when its client's machine is gone.

    Its own default is two hours, for which the locks of an unfinished transaction would stay. Leaves a transaction open
    where the connection is not in autocommit.
    """
    wanted = {"tcp_keepalives_idle": "8", "tcp_keepalives_interval": "4", "tcp_keepalives_count": "3"}
    psycopg.Cursor(connection).execute(
        "SELECT set_config(name, value, false) FROM unnest(%s::text[], %s::text[]) AS wanted(name, value)",
        [list(wanted), list(wanted.values())],
    )


def break_connection(connection: psycopg.Connection[Any]) -> None:
    """End its socket, so that another thread that waits for its answer fails."""
    with suppress(psycopg.Error, OSError), socket.socket(fileno=socket.dup(connection.fileno())) as twin:
        twin.shutdown(socket.SHUT_RDWR)
