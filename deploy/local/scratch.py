"""`python -m deploy.local.scratch URL NAME`: an empty database NAME beside the one of URL; prints its own URL."""

import sys
from urllib.parse import urlsplit

import psycopg
from psycopg.sql import SQL, Identifier


def make(url: str, name: str) -> str:
    """The URL of a database that was just made on the server of `url`; one of that name is dropped first."""
    drop(url, name)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
    return urlsplit(url)._replace(path=f"/{name}").geturl()


def drop(url: str, name: str) -> None:
    """Take the database NAME away again, whoever is connected to it."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(name)))


if __name__ == "__main__":
    print(make(*sys.argv[1:]))
