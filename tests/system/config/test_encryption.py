"""TLS to PostgreSQL and Redis: what the addresses ask for is used, and `check --deploy` tells where it is missing."""

import json
import os
import shutil
import socketserver
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from bench.faults.cluster import ACCOUNT, Cluster
from config import env
from config.checks import check_transport
from tests.fakes.agents import self_signed
from tests.fresh import fresh_secrets

ROOT = Path(__file__).resolve().parents[3]
IS_ENCRYPTED = """
import django, json, psycopg, asyncio
django.setup()
from django.db import connection
from config import probes
from consent.notices.long_polling import listeners_address
QUERY = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
with connection.cursor() as cursor:
    cursor.execute(QUERY)
    served = cursor.fetchone()[0]
listened = psycopg.connect(**listeners_address()).execute(QUERY).fetchone()[0]
found = {"database": False, "migrations": False, "rules": False, "audit": False}
try:
    asyncio.run(probes._probe_postgresql(found))
except psycopg.errors.UndefinedTable:
    pass  # nothing was migrated
print(json.dumps([served, listened, found["database"]]))
"""
CONNECTS = """
import django
django.setup()
from config.celery import app
with app.connection_for_write() as connection:
    connection.ensure_connection(max_retries=1)
"""
elsewhere_and_here = pytest.mark.parametrize(
    ("host", "is_elsewhere"),
    [
        ("db.example.org", True), ("10.0.0.7", True), ("2001:db8::7", True), ("127.0.0.1,10.0.0.7", True),
        ("", False), ("localhost", False), ("127.0.0.1", False), ("::1", False), ("/run/postgresql", False),
    ],
)  # fmt: skip


@pytest.fixture
def certificate() -> Iterator[Path]:
    """In a folder that PostgreSQL's own account may read."""
    with tempfile.TemporaryDirectory(prefix="consent-tls-") as folder:
        Path(folder).chmod(0o755)
        yield self_signed(Path(folder), "localhost", "127.0.0.1")


@pytest.fixture
def database(certificate: Path) -> Iterator[str]:
    """The address of a PostgreSQL that answers with this certificate, and in clear to who asks so."""
    key = certificate.with_name("key.pem")
    key.write_bytes(certificate.read_bytes())
    key.chmod(0o600)
    if os.geteuid() == 0:
        shutil.chown(key, ACCOUNT)
    cluster = Cluster(ssl="on", ssl_cert_file=str(certificate), ssl_key_file=str(key))
    yield cluster.url
    cluster.remove()


@contextmanager
def tls_server(certificate: Path) -> Iterator[int]:
    """The port of a server that nobody has a reason to trust; it says nothing after the handshake."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    class Handshake(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError), context.wrap_socket(self.request, server_side=True) as connected:
                connected.recv(1)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handshake) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def run_program(program: str = IS_ENCRYPTED, **variables: str) -> subprocess.CompletedProcess[str]:
    """What a process with these addresses says."""
    own = {**os.environ, **fresh_secrets(), "DJANGO_SETTINGS_MODULE": "config.settings", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env={**own, **variables}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


@pytest.mark.postgres
@pytest.mark.skipif(connection.vendor != "postgresql", reason="it starts a PostgreSQL of its own")
def test_postgresql_is_asked_as_its_address_says(database: str, certificate: Path) -> None:
    trusted = f"sslmode=verify-full&sslrootcert={certificate}"
    encrypted = run_program(DATABASE_URL=f"{database}?{trusted}")
    assert json.loads(encrypted.stdout or "[]") == [True, True, True], encrypted.stderr

    others = certificate.with_name("others")
    others.mkdir()
    refused = run_program(DATABASE_URL=f"{database}?sslmode=verify-full&sslrootcert={self_signed(others, '127.0.0.1')}")
    assert refused.returncode != 0
    assert "certificate verify failed" in refused.stderr

    in_clear = run_program(DATABASE_URL=f"{database}?sslmode=disable")
    assert json.loads(in_clear.stdout or "[]") == [False, False, True], in_clear.stderr


@pytest.mark.postgres
@pytest.mark.skipif(connection.vendor != "postgresql", reason="it starts a PostgreSQL of its own")
def test_the_listener_is_asked_as_its_own_address_says(database: str) -> None:
    there = run_program(DATABASE_URL=f"{database}?sslmode=disable", DATABASE_LISTEN_URL=f"{database}?sslmode=require")
    assert json.loads(there.stdout or "[]") == [False, True, True], there.stderr


def test_the_broker_has_to_show_a_certificate_that_is_trusted(certificate: Path) -> None:
    with tls_server(certificate) as port:
        refused = run_program(CONNECTS, REDIS_URL=f"rediss://127.0.0.1:{port}/0")

    assert refused.returncode != 0
    assert "CERTIFICATE_VERIFY_FAILED" in refused.stderr


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("", ""),
        ("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
        ("rediss://cache:6379/0", "rediss://cache:6379/0?ssl_cert_reqs=required"),
        ("rediss://cache/0?ssl_ca_certs=/ca.pem", "rediss://cache/0?ssl_ca_certs=/ca.pem&ssl_cert_reqs=required"),
        ("rediss://cache/0?ssl_cert_reqs=none", "rediss://cache/0?ssl_cert_reqs=none"),
    ],
)
def test_addresses_of_redis(monkeypatch: pytest.MonkeyPatch, given: str, used: str) -> None:
    monkeypatch.setenv("REDIS_URL", given)

    assert env.redis("REDIS_URL") == used


@pytest.mark.parametrize(
    ("given", "used", "options"),
    [
        ("", "", {}),
        ("redis://one/1", "redis://one/1", env.REDIS_OPTIONS),
        ("rediss://one/1", "rediss://one/1?ssl_cert_reqs=required", env.REDIS_OPTIONS),
        ("amqps://u:p@one//;amqps://u:p@two//", "amqps://u:p@one//;amqps://u:p@two//", {"write_timeout": 10}),
        (
            "sentinel://one:26379/0?master_name=ours;sentinel://two:26379/0",
            "sentinel://one:26379/0;sentinel://two:26379/0",
            {**env.REDIS_OPTIONS, "master_name": "ours"},
        ),
    ],
)
def test_addresses_of_the_broker(
    monkeypatch: pytest.MonkeyPatch, given: str, used: str, options: dict[str, Any]
) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", given)

    assert env.broker("CELERY_BROKER_URL") == (used, options)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("REDIS_URL", "amqp://one"),
        ("REDIS_URL", "sentinel://one"),
        ("CELERY_BROKER_URL", "sqs://one"),
        ("CELERY_BROKER_URL", "memory"),
        ("CELERY_BROKER_URL", "sentinel://one:26379/0"),
        ("CELERY_BROKER_URL", "amqp://one;redis://two"),
    ],
)
def test_another_kind_of_broker_is_said_at_the_start(monkeypatch: pytest.MonkeyPatch, name: str, given: str) -> None:
    monkeypatch.setenv(name, given)

    with pytest.raises(ImproperlyConfigured, match=f"{name} must be"):
        env.redis(name) if name == "REDIS_URL" else env.broker(name)


def warning_ids(
    settings: Any, *, host: str = "", redis: str = "", listen: str = "", **options: Any
) -> list[str | None]:
    """The warnings about such addresses."""
    database = {"ENGINE": "config.postgresql", "HOST": host, "OPTIONS": options}
    settings.DATABASES, settings.REDIS_URL, settings.DATABASE_LISTEN_URL = {"default": database}, redis, listen
    return [each.id for each in check_transport()]


@pytest.mark.filterwarnings("ignore:Overriding setting DATABASES")
@elsewhere_and_here
def test_a_database_that_need_not_be_encrypted(settings: Any, host: str, is_elsewhere: bool) -> None:
    wanted = ["config.W003"] if is_elsewhere else []

    assert warning_ids(settings, host=host) == wanted
    assert warning_ids(settings, host=host, sslmode="prefer") == wanted
    for mode in ("require", "verify-ca", "verify-full"):
        assert warning_ids(settings, host=host, sslmode=mode) == []


@pytest.mark.filterwarnings("ignore:Overriding setting DATABASES")
def test_addresses_of_redis_and_of_the_listener(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert warning_ids(settings, redis="redis://:password@cache.example.org:6379/0") == ["config.W004"]
    assert warning_ids(settings, redis="rediss://cache.example.org:6379/0") == []
    assert warning_ids(settings, redis="redis://127.0.0.1:6379/0") == []
    assert warning_ids(settings, listen="postgres://db.example.org/consent") == ["config.W003"]
    assert warning_ids(settings, listen="postgres://db.example.org/consent?sslmode=require") == []
    monkeypatch.setenv("PGSSLMODE", "verify-full")
    assert warning_ids(settings, host="db.example.org") == []
