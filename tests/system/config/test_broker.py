"""Messages go by another broker than the Redis of limits: a real RabbitMQ, and a Redis that real Sentinels watch."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from accounts.models import OutgoingMail
from config import env
from deploy.local.serving import free_port
from tests.factories.accounts import OutgoingMailFactory
from tests.patience import MOST_SECONDS, eventually
from tests.served_site import ROOT, Served, database_url

pytestmark = pytest.mark.django_db(transaction=True)
CONTROL, REDIS = shutil.which("rabbitmqctl"), shutil.which("redis-server")
_SENDS = """
import threading, django, config.celery
django.setup()
from common.background import background
from common.broker import enqueue
sent = threading.Event()
enqueue("accounts.tasks.send_mails")
background.soon(sent.set)
sent.wait()
"""


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


# of what this machine has
BROKERS = [*(["rabbitmq"] if CONTROL and _listens(5672) else []), *(["sentinels"] if REDIS else [])]


@pytest.fixture
def rabbitmq() -> Iterator[str]:
    """A virtual host of the machine's RabbitMQ that is this test's own."""
    name = f"consent-{uuid4().hex[:8]}"

    def control(*arguments: str) -> None:
        subprocess.run([str(CONTROL), *arguments], check=True, capture_output=True)

    control("add_vhost", name)
    control("set_permissions", "-p", name, "guest", ".*", ".*", ".*")
    yield f"amqp://guest:guest@127.0.0.1:5672/{name}"
    control("delete_vhost", name)


@pytest.fixture
def sentinels(tmp_path: Path) -> Iterator[str]:
    """A Redis and one Sentinel that watches it; the address as CELERY_BROKER_URL has it."""
    program = str(REDIS)
    port, watching = free_port(), free_port()
    config = tmp_path / "sentinel.conf"
    config.write_text(f"port {watching}\nbind 127.0.0.1\nsentinel monitor ours 127.0.0.1 {port} 1\n")
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    with (
        subprocess.Popen([program, "--port", str(port), "--bind", "127.0.0.1", "--save", ""], **quiet) as redis,
        subprocess.Popen([program, str(config), "--sentinel"], **quiet) as sentinel,
    ):
        yield f"sentinel://127.0.0.1:{watching}/0?master_name=ours"
        sentinel.kill()
        redis.kill()


@pytest.fixture(params=BROKERS)
def broker(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


def test_a_server_and_a_worker_meet_at_the_broker(broker: str, tmp_path: Path) -> None:
    own = {"CELERY_BROKER_URL": broker, "REDIS_URL": "", "CONSENT_VAR": str(tmp_path), "RELEASE_CHECK": "warn"}
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "DATABASE_URL": database_url(), **own}
    server, mail = Served(**own), OutgoingMailFactory(due_at=timezone.now() - timedelta(minutes=1))
    command = [
        str(Path(sys.executable).with_name("celery")), "--app", "config", "worker", "--pool", "threads",
        "--concurrency", "2", "--loglevel", "info", "--without-gossip", "--without-mingle", "--without-heartbeat",
    ]  # fmt: skip
    with (tmp_path / "worker.log").open("wb") as log:
        worker = subprocess.Popen(
            command, cwd=ROOT, env=environment, start_new_session=True, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            server.start()
            eventually(lambda: _broker_of(server) is True, "the server's word that it has its broker")
            # there is no timer: the message alone can have brought the worker to it
            done = subprocess.run(
                [sys.executable, "-c", _SENDS], cwd=ROOT, env=environment, check=True, capture_output=True
            )
            assert b"left to the sweep" not in done.stderr
            eventually(lambda: not OutgoingMail.objects.filter(pk=mail.pk).exists(), "a mail that went out")
        finally:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
            server.stop()
            server.close()


def _broker_of(server: Served) -> object:
    with urllib.request.urlopen(f"{server.address}/readyz", timeout=MOST_SECONDS) as answer:
        return json.load(answer)["checks"]["broker"]


@pytest.mark.parametrize("address", ["redis://a;redis://b", "redis://a;amqp://b", "sentinel://a:1/0", "sqs://"])
def test_an_address_of_no_one_broker_is_refused(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", address)
    with pytest.raises(ImproperlyConfigured, match="CELERY_BROKER_URL must "):
        env.broker("CELERY_BROKER_URL")
