"""Whether a connection leads to a session of PostgreSQL of its own, or to a pooler that hands sessions around.

Behind a pooler in transaction mode, what belongs to a session meets that of other clients. Prepared statements are the
dangerous part: every client numbers its own from 0, so one client's number 3 runs another's statement, with success
where the parameters fit. LISTEN hears nothing there.

PostgreSQL tells each client at the start which of its processes serves it. A pooler answers that start itself, with
numbers of its own, since no one process serves the client.
"""

from typing import Any

import psycopg


def leads_through_pooler(connection: psycopg.Connection[Any]) -> bool:
    """Whether another process answers than was named at the start; a pooler that keeps sessions apart counts too.

    Leaves a transaction open where the connection is not in autocommit.
    """
    serving = psycopg.Cursor(connection).execute("SELECT pg_backend_pid()").fetchone()
    return serving is None or serving[0] != connection.info.backend_pid
