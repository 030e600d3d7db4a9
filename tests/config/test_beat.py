"""The timer sends the message of a task where its queue has something to do, and else once a minute."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from celery.beat import PersistentScheduler, ScheduleEntry
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.module_loading import import_string
from prometheus_client import REGISTRY

from agents_proxy.analyses.models import Run
from config import beat
from config.schedule import LOOK_EVERY, WATCHED, WORK
from config.tasks import do_work
from consent.log.notes import COSIGNATURE, VerifierKey
from pkm.registry.models import RegistryVersion
from tests.factories.accounts import OutgoingMailFactory, OutgoingPushFactory
from tests.factories.agents import (
    ActivationFactory,
    CorrectionFactory,
    DeletionFactory,
    LinkSessionFactory,
    ProcessingConsentFactory,
    RunFactory,
)
from tests.factories.consent_requests import ConsentRequestFactory, GrantFactory, PublishedKeysFactory, ReadFactory
from tests.factories.history import (
    AuditCheckpointFactory,
    AuditPendingFactory,
    LogQueueFactory,
    ScopeWithdrawalFactory,
    WebhookDeliveryFactory,
)

pytestmark = pytest.mark.django_db
AGES = timedelta(days=3)


def _forsaken_run() -> None:
    RunFactory()
    Run.objects.update(updated_at=timezone.now() - AGES)


ROWS: dict[str, list[Callable[[], Any]]] = {  # for each function of an entry, what it would find
    "deliver-webhooks": [WebhookDeliveryFactory],
    "keep-log": [LogQueueFactory, lambda: AuditCheckpointFactory(cosigned_at=None)],
    "resume": [
        _forsaken_run,
        lambda: ActivationFactory(next_attempt_at=timezone.now() - AGES),
        lambda: DeletionFactory(next_attempt_at=timezone.now() - AGES),
        lambda: CorrectionFactory(due_at=timezone.now() - AGES),
    ],
    "finish-withdrawals": [ScopeWithdrawalFactory],
    "write-audit": [AuditPendingFactory, ReadFactory],
    "send-mails": [OutgoingMailFactory],
    "send-pushes": [OutgoingPushFactory],
    "maintain-institutions": [lambda: LinkSessionFactory(expires_at=timezone.now() - AGES)],
    "fetch-published-keys": [
        lambda: PublishedKeysFactory(
            request__app__proved_domain="trips.example", request__app__domain_proved_at=timezone.now()
        )
    ],
    "write-down-expiry": [
        lambda: ProcessingConsentFactory(
            site=True, given_at=timezone.now() - AGES, expires_at=timezone.now() - timedelta(hours=1)
        ),
        lambda: ConsentRequestFactory(created_at=timezone.now() - AGES),
        GrantFactory,
    ],
    "bring-manifests-up-to-date": [lambda: RegistryVersion.objects.update(version="another")],
}


@pytest.fixture(autouse=True)
def _nothing_to_do(settings: Any) -> None:
    settings.AGGREGATOR = {"url": "http://127.0.0.1:9"}
    settings.LOG_WITNESSES = [(str(VerifierKey("w.example", COSIGNATURE, bytes(32))), "http://127.0.0.1:9")]
    RegistryVersion.objects.update(in_manifests="this", version="this")


class Timer:
    """The scheduler at a clock of the test's own; `sent` are the names of its messages."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.sent = 1000.0, list[str]()
        monkeypatch.setattr(beat.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(PersistentScheduler, "__init__", lambda _self: None)
        monkeypatch.setattr(
            PersistentScheduler, "apply_entry", lambda _self, entry, producer=None: self.sent.append(entry.name)
        )
        self.scheduler = beat.Scheduler()
        self.scheduler.app = current_app

    def look(self, *, at: float = 0.0) -> list[str]:
        """What is sent when it looks, so many seconds after it began."""
        self.sent, self.now = [], 1000.0 + at
        self.ring("look")
        return self.sent

    def ring(self, name: str) -> None:
        """The time of this entry has come."""
        self.scheduler.apply_entry(ScheduleEntry(name=name, app=current_app))


@pytest.fixture
def timer(monkeypatch: pytest.MonkeyPatch) -> Timer:
    return Timer(monkeypatch)


def test_every_queue_has_work_here_and_comes_in_time() -> None:
    assert {name: len(rows) for name, rows in ROWS.items()} == {
        name: len(watched.work) for name, watched in WATCHED.items()
    }
    assert all(watched.seconds % LOOK_EVERY == 0 for watched in WATCHED.values())


@pytest.mark.parametrize(("name", "number"), [(name, number) for name in ROWS for number in range(len(ROWS[name]))])
def test_entry_is_sent_as_soon_as_there_is_work(timer: Timer, name: str, number: int) -> None:
    assert timer.look() == []

    ROWS[name][number]()

    assert import_string(list(WATCHED[name].work.values())[number])()
    assert name in timer.look(at=WATCHED[name].seconds)


def test_queue_is_asked_when_its_time_has_come_again(timer: Timer) -> None:
    OutgoingMailFactory()

    assert [len(timer.look(at=second)) for second in (0, 2, 4, 6, 8, 9.9, 12)] == [1, 0, 0, 0, 0, 1, 0]


def test_entries_are_sent_once_a_minute_whatever_the_rows_say(timer: Timer) -> None:
    assert [timer.look(at=second) for second in (0, 50, 80, 110)] == [[], [], list(WATCHED), []]


def test_a_look_at_which_nothing_is_due_costs_little(timer: Timer, settings: Any) -> None:
    settings.AGGREGATOR, settings.LOG_WITNESSES = {}, []
    timer.look()

    with CaptureQueriesContext(connection) as whole:
        assert timer.look(at=30) == []
    with CaptureQueriesContext(connection) as short:
        assert timer.look(at=32) == []

    clock = [query["sql"] for query in (*whole, *short) if "clock_timestamp" in query["sql"]]
    assert len(clock) == (2 if connection.vendor == "postgresql" else 0)  # once for each look
    assert len(whole) <= 36
    assert len(short) <= 8


def test_others_go_by_the_clock(timer: Timer) -> None:
    timer.ring("every-hour")

    assert timer.sent == ["every-hour"]


def test_queue_that_cannot_be_asked_has_its_task_sent(timer: Timer, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> bool:
        raise DatabaseError("no such function")

    monkeypatch.setattr("consent.notices.webhooks.is_due", broken)
    monkeypatch.setattr(beat.connection, "close", lambda: None)  # the test's own

    assert timer.look() == ["deliver-webhooks"]


@pytest.mark.parametrize("is_restarted", [True, False])
def test_a_clock_that_was_an_hour_ahead_holds_nothing_up(
    timer: Timer, monkeypatch: pytest.MonkeyPatch, is_restarted: bool
) -> None:
    entry = ScheduleEntry("every-hour", schedule=2.0, app=current_app)
    entry.last_run_at += timedelta(hours=1)
    monkeypatch.setattr(beat.Scheduler, "schedule", {"every-hour": entry})
    vars(timer.scheduler).update(_heap=None, old_schedulers=None, max_interval=300)
    if not is_restarted:
        timer.scheduler.populate_heap()

    assert timer.scheduler.tick() <= 2
    assert entry.last_run_at <= entry.default_now()


def test_worker_and_beat_use_this_timer(settings: Any) -> None:
    assert import_string(settings.CELERY_BEAT_SCHEDULER) is beat.Scheduler


def test_every_function_of_an_entry_is_there() -> None:
    assert all(callable(import_string(name)) for functions in WORK.values() for name in functions)


def test_one_that_fails_keeps_no_other_from_its_turn_and_is_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    first, *others = WORK["every-hour"]
    called = list[str]()

    def broken() -> int:
        raise ValueError("not this one")

    monkeypatch.setattr(first, broken)
    for name in others:
        monkeypatch.setattr(name, lambda name=name: called.append(name) or 2)
    before = {name: counted(name, state) for name, state in ((first, "FAILURE"), (others[0], "SUCCESS"))}

    assert do_work("every-hour") == 2 * len(others)

    assert called == others
    logged = [record.getMessage() for record in caplog.records if record.name == "config.tasks"]
    assert logged == [f"{first} failed"]
    assert [counted(first, "FAILURE"), counted(others[0], "SUCCESS")] == [count + 1 for count in before.values()]


def counted(name: str, state: str) -> float:
    labels = {"task": name, "state": state}
    return REGISTRY.get_sample_value("consent_task_duration_seconds_count", labels) or 0.0


def test_what_is_left_waits_where_the_worker_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.tasks.shutdown.has_begun", lambda: True)

    assert do_work("every-hour") == 0
