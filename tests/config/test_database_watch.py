"""The watch over PostgreSQL while it waits for an answer."""

import asyncio
from collections.abc import Generator
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from psycopg import generators

from config import database_watch
from tests.config.gate import Gate
from tests.served_site import database_url


class PoolOfOne:
    """One connection, lent and given back."""

    def __init__(self, line: psycopg.Connection[Any]) -> None:
        self.line = line

    def getconn(self, *, timeout: float) -> psycopg.Connection[Any]:
        return self.line

    def putconn(self, line: psycopg.Connection[Any]) -> None:
        assert line is self.line


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite answers at once")
def test_a_silent_database_does_not_keep_a_core_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The looks of half a second without an answer are counted: some thousands, were there no pause between them."""
    database, looks, execute = settings.DATABASES["default"], 0, generators.execute
    gate = Gate((database["HOST"], int(database["PORT"] or 5432)))
    at, _, name = database_url().rpartition("@")[2].partition("/")

    def counted(pgconn: Any) -> Generator[Any, Any, Any]:
        nonlocal looks
        answering = execute(pgconn)
        try:
            wanted = next(answering)
            while True:
                ready = yield wanted
                looks += 1
                wanted = answering.send(ready)
        except StopIteration as answered:
            return answered.value

    async def query_while_silent(line: psycopg.Connection[Any]) -> None:
        gate.be_silent()
        asyncio.get_running_loop().call_later(0.5, gate.open)
        await database_watch._select_one(PoolOfOne(line))

    monkeypatch.setattr(database_watch.generators, "execute", counted)
    try:
        with psycopg.connect(database_url().replace(f"@{at}/{name}", f"@127.0.0.1:{gate.port}/{name}")) as line:
            asyncio.run(query_while_silent(line))
    finally:
        gate.close()
    assert 0 < looks < 100


@pytest.mark.postgres
@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no sessions")
def test_postgresql_gives_up_a_session_whose_client_is_gone_within_twenty_seconds() -> None:
    """Where it reads from the socket, which tells no end of a machine that lost its power."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, setting::int FROM pg_settings WHERE name LIKE 'tcp_keepalives%'")
        kept = dict(cursor.fetchall())

    assert kept["tcp_keepalives_idle"] + kept["tcp_keepalives_interval"] * kept["tcp_keepalives_count"] == 20


@pytest.mark.postgres
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no sessions")
def test_an_idle_connection_outlives_two_lost_probes_and_no_third() -> None:
    """Linux lets TCP_USER_TIMEOUT end what has one probe without an answer when it is over, whatever the count is."""
    kept = connection.settings_dict["OPTIONS"]

    second = kept["keepalives_idle"] + kept["keepalives_interval"]
    third = second + kept["keepalives_interval"]
    assert second < third < kept["tcp_user_timeout"] / 1000 <= third + kept["keepalives_interval"]
