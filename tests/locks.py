"""What PostgreSQL tells about its locks."""

from django.db import connection


def somebody_waits_for_a_lock() -> bool:
    """Whether a connection to this run's database does."""
    return connections_that("wait_event_type = 'Lock'") != []


def connections_that(condition: str) -> list[int]:
    """The process ids of this run's connections of which this is true."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # or a transaction goes on seeing what it saw first
        cursor.execute(f"SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND {condition}")
        return [row[0] for row in cursor.fetchall()]
