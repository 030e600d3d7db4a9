"""What the worker does by itself: one task asks each queue, and starts what has something to do."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.db import DatabaseError
from django.utils import timezone
from django.utils.module_loading import import_string

from agents_proxy.analyses.models import Run
from config import tasks, timer
from consent.log.models import AuditCheckpoint
from developers.apps.models import SUSPENDED
from pkm.registry.models import RegistryVersion
from tests.factories.accounts import ErasureFactory, SecurityChangeFactory
from tests.factories.agents import ActivationFactory, LinkSessionFactory, RunFactory
from tests.factories.asked import ConsentRequestFactory, ReadFactory
from tests.factories.developers import AppAuditEntryFactory, AppInvitationFactory, ApplicationFactory, TokenFactory
from tests.factories.history import (
    AuditCheckpointFactory,
    AuditPendingFactory,
    LogQueueFactory,
    ScopeWithdrawalFactory,
    WebhookDeliveryFactory,
)
from tests.factories.pkm import VaultResetFactory

pytestmark = pytest.mark.django_db
AGES = timedelta(days=3)


def _forsaken_run() -> None:
    RunFactory()
    Run.objects.update(updated_at=timezone.now() - AGES)


WORK: dict[str, Callable[[], Any]] = {
    "deliver-webhooks": WebhookDeliveryFactory,
    "sequence-log": LogQueueFactory,
    "ask-log-witnesses": lambda: AuditCheckpointFactory(cosigned_at=None),
    "resume-analyses": _forsaken_run,
    "resume-activations": lambda: ActivationFactory(next_attempt_at=timezone.now() - AGES),
    "finish-withdrawals": ScopeWithdrawalFactory,
    "chain-reads": ReadFactory,
    "write-pending-audit": AuditPendingFactory,
    "write-mails": lambda: ConsentRequestFactory(mail_waits=True),
    "write-to-members": lambda: AppAuditEntryFactory(action=SUSPENDED),
    "write-team-mails": AppInvitationFactory,
    "write-vault-reset-mails": VaultResetFactory,
    "write-erasure-mails": ErasureFactory,
    "write-security-mails": SecurityChangeFactory,
    "maintain-institutions": lambda: LinkSessionFactory(expires_at=timezone.now() - AGES),
    "write-down-expiry": lambda: ConsentRequestFactory(created_at=timezone.now() - AGES),
    "write-token-mails": lambda: TokenFactory(leaked_at=timezone.now(), revoked_at=timezone.now()),
    "write-application-mails": ApplicationFactory,
    "bring-manifests-up-to-date": lambda: RegistryVersion.objects.update(version="another"),
}


@pytest.fixture(autouse=True)
def _nothing_looked_at(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_looked", {})
    settings.AGGREGATOR = {"url": "http://127.0.0.1:9"}
    monkeypatch.setattr("consent.log.keys.witnesses", lambda: ["one"])
    AuditCheckpoint.objects.all().delete()
    RegistryVersion.objects.update(in_manifests="this", version="this")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tasks that are started, none of which runs."""
    names: list[str] = []
    for watched in timer.WATCHED.values():
        monkeypatch.setattr(current_app.tasks[watched.task], "delay", lambda name=watched.task: names.append(name))
    return names


def test_every_queue_is_asked_in_time() -> None:
    current_app.loader.import_default_modules()

    assert set(WORK) == set(timer.WATCHED)
    assert all(watched.seconds % timer.LOOK_EVERY == 0 for watched in timer.WATCHED.values())
    assert {entry["task"] for entry in timer.TASKS.values()} <= set(current_app.tasks)


@pytest.mark.parametrize("name", WORK)
def test_queue_is_due_as_soon_as_there_is_work(name: str) -> None:
    is_due = import_string(timer.WATCHED[name].is_due)
    assert not is_due()

    WORK[name]()

    assert is_due()


def test_only_what_has_something_to_do_is_started(started: list[str]) -> None:
    SecurityChangeFactory()

    assert tasks.look() == 1
    assert started == ["accounts.tasks.write_security_mails"]


def test_queue_is_not_asked_before_its_time(started: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    SecurityChangeFactory()
    clock = iter([0.0, 2.0, 9.9, 12.0])

    for _ in range(4):
        now = next(clock)
        monkeypatch.setattr(tasks.time, "monotonic", lambda now=now: now)
        tasks.look()

    assert started == ["accounts.tasks.write_security_mails"] * 2  # at 0 and at 9.9


def test_queue_that_cannot_be_asked_keeps_no_other_back(started: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> bool:
        raise DatabaseError("no such function")

    monkeypatch.setattr("consent.notices.webhooks.is_due", broken)
    SecurityChangeFactory()

    tasks.look()

    assert started == ["consent.tasks.deliver_webhooks", "accounts.tasks.write_security_mails"]
