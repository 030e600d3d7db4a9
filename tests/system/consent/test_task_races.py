"""What the worker does in batches, beside other workers, beside people, and killed half way."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import connection, connections, transaction

from common.clock import database_now
from consent.decisions import expiry
from consent.errors import MoveNotAllowed
from consent.exports.read_batches import chain_pending_reads
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger import audit, verifying
from consent.ledger.models import Receipt
from consent.notices.models import Notice
from consent.requests.models import ConsentRequest
from developers.models import App
from tests.consent.bulk import overdue, read_often
from tests.factories import AppFactory, ExportFactory
from tests.locks import connections_that
from tests.patience import MOST_SECONDS, eventually
from tests.served_site import ROOT, database_url

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="rows are raced for on PostgreSQL"),
]


def test_two_workers_end_everything_once() -> None:
    overdue(30, [AppFactory(), AppFactory()])
    patched = pytest.MonkeyPatch()
    patched.setattr(expiry, "BATCH", 5)

    try:
        assert sum(at_once([expiry.write_down_expiry] * 3)) == 60
    finally:
        patched.undo()

    assert Receipt.objects.count() == Notice.objects.count() == 60
    for app in App.objects.all():
        numbers = list(Notice.objects.filter(app=app).order_by("sequence").values_list("sequence", flat=True))
        assert numbers == list(range(1, len(numbers) + 1))
    assert list(verifying.verify()) == []


def test_a_row_that_somebody_holds_is_left_to_the_next_round() -> None:
    requests, grants = overdue(3, [AppFactory()])
    locked, released = threading.Event(), threading.Event()

    def hold() -> int:
        with transaction.atomic():
            Grant.objects.select_for_update().get(pk=grants[0].pk)
            ConsentRequest.objects.select_for_update().get(pk=requests[0].pk)
            locked.set()
            released.wait(MOST_SECONDS)
        return 0

    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(on_own_connection(hold))
        assert locked.wait(MOST_SECONDS)
        assert expiry.write_down_expiry() == 4
        released.set()
        holding.result()
    assert expiry.write_down_expiry() == 2
    assert list(verifying.verify()) == []


def test_whoever_stops_while_a_batch_runs_stops_once() -> None:
    """Grants that end within the race: each is revoked by its person or expires, never both."""
    ends = database_now() + timedelta(seconds=10)
    grants = [ExportFactory(grant__expires_at=ends).grant for _ in range(20)]
    eventually(lambda: database_now() > ends - timedelta(seconds=0.3), "the moment before they end")

    def revoke_all() -> int:
        stopped = 0
        for grant in grants:
            try:
                grant_actions.revoke(grant_id=grant.grant_id, by=grant.user)
                stopped += 1
            except MoveNotAllowed:
                pass
        return stopped

    def expire() -> int:
        ended = 0
        while database_now() < ends + timedelta(seconds=0.3):
            ended += expiry.write_down_expiry()
        return ended

    stopped, one, two = at_once([revoke_all, expire, expire])
    ended = one + two + expiry.write_down_expiry()

    assert stopped + ended == 20
    assert Receipt.objects.count() == Notice.objects.count() == 20
    assert list(verifying.verify()) == []


def test_a_worker_that_is_killed_leaves_a_batch_whole_or_undone() -> None:
    first, second = AppFactory(), AppFactory()
    overdue(5, [first], days=9)
    overdue(5, [second])
    audit.name_chains([audit.app_chain(second.app_id)])

    with transaction.atomic():  # holds the head of the second app's chain, which the second batch waits for
        audit.append(chain=audit.app_chain(second.app_id), kind="denied", actor="person", at=database_now(), facts={})
        with in_a_process("expiry.BATCH = 5; expiry.write_down_expiry()") as worker:
            eventually(lambda: connections_that("wait_event_type = 'Lock'") != [], "a wait for a lock")
            blocked = connections_that("wait_event_type = 'Lock'")
            worker.kill()
        transaction.set_rollback(True)
    assert len(blocked) == 1
    eventually(lambda: connections_that(f"pid = {blocked[0]}") == [], "the end of its transaction")

    ended = ConsentRequest.objects.filter(status="expired")
    assert set(ended.values_list("app", flat=True)) == {first.pk}
    assert ended.count() == Receipt.objects.count() == Notice.objects.count() == 5
    assert list(verifying.verify()) == []
    assert expiry.write_down_expiry() == 15
    assert Receipt.objects.count() == Notice.objects.count() == 20
    assert list(verifying.verify()) == []


def test_two_workers_chain_each_read_once() -> None:
    read_often(8, 5)

    assert sum(at_once([chain_pending_reads] * 2)) == 40
    assert list(verifying.verify()) == []


def in_a_process(work: str) -> subprocess.Popen[bytes]:
    """This work with `expiry`, in a process of its own on this run's database."""
    setup = "import django; django.setup(); from consent.decisions import expiry; "
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "CONSENT_VAR": str(settings.VAR),
        "DATABASE_URL": database_url(),
    }
    return subprocess.Popen([sys.executable, "-c", setup + work], cwd=ROOT, env=environment)


def on_own_connection(call: Callable[[], int]) -> Callable[[], int]:
    def run() -> int:
        try:
            return call()
        finally:
            connections.close_all()

    return run


def at_once(calls: list[Callable[[], int]]) -> list[int]:
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(on_own_connection(call)) for call in calls]]
