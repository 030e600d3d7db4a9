"""What grows is deleted when its time is over, in batches, and never what something still hangs on."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings

from accounts.models import Session
from agents_proxy.proxy.models import Call
from agents_proxy.tasks import forget_agent_calls
from common import batches
from common.clock import database_now
from config.tasks import do_work
from consent import retention
from consent.connector_keys.models import PublishedKeys
from consent.discovery.models import DirectoryFind, Discovery
from consent.notices.models import Notice, WebhookDelivery
from consent.retention import forget_old_records, forget_what_is_over
from tests.factories import AppFactory, ConsentRequestFactory, PersonFactory, WebhookEndpointFactory
from tests.least_rights import least_rights

pytestmark = pytest.mark.django_db


def delivery(status: str, *, days: int) -> WebhookDelivery:
    """A delivery of a notice so many days old, finished as long ago where it is."""
    at = database_now() - timedelta(days=days)
    request = ConsentRequestFactory()
    notice = Notice.objects.create(app=request.app, request=request, sequence=1, kind="consent.denied", facts={}, at=at)
    finished = None if status == "waiting" else at
    endpoint = WebhookEndpointFactory(app=request.app)
    return WebhookDelivery.objects.create(
        endpoint=endpoint, notice=notice, status=status, next_at=at, finished_at=finished
    )


def test_finished_deliveries_go_and_those_that_wait_stay() -> None:
    old = settings.DELIVERIES_KEPT_DAYS
    kept = {delivery("waiting", days=old + 100).pk, delivery("delivered", days=old - 1).pk}
    delivery("delivered", days=old + 1)
    delivery("given_up", days=old + 1)

    assert (forget_old_records(), forget_old_records()) == (2, 0)
    assert set(WebhookDelivery.objects.values_list("pk", flat=True)) == kept
    assert Notice.objects.count() == 4  # a stream goes on from any of them


@pytest.mark.usefixtures("one_day")
def test_discoveries_and_finds_go_by_their_day(settings: Any) -> None:
    settings.DISCOVERIES_KEPT_DAYS = 40
    app, person, now = AppFactory(), PersonFactory(), database_now()
    for days in (39, 40, 41, 90):
        at = now - timedelta(days=days)
        Discovery.objects.create(app=app, user=person, day=at.date(), first_at=at, last_at=at)
        DirectoryFind.objects.create(app=app, user=person, day=at.date(), at=at)

    assert forget_old_records() == 4
    days = {(now - timedelta(days=days)).date() for days in (39, 40)}
    assert {row.day for row in Discovery.objects.all()} == {row.day for row in DirectoryFind.objects.all()} == days


def test_calls_to_agents_go_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_DELETED_AT_ONCE", 2)
    fields = {"agent": "food", "session_id": "s", "task_id": "t", "duration_ms": 1, "outcome": "answered", "bytes": 1}
    old, now = database_now() - timedelta(days=settings.AGENT_CALLS_KEPT_DAYS + 1), database_now()
    Call.objects.bulk_create(Call(**fields, started_at=at) for at in (old, old, old, old, old, now))

    assert (forget_agent_calls(), forget_agent_calls()) == (5, 0)
    assert Call.objects.get().started_at == now


def over() -> None:
    """A session, and what was fetched for a request that waits no more."""
    now = database_now()
    request = ConsentRequestFactory(created_at=now - timedelta(days=2), expires_at=now - timedelta(days=1))
    PublishedKeys.objects.create(request=request, token="", due_at=now)
    Session.objects.create(digest="a" * 64, data="", expires_at=now - timedelta(days=1))


@pytest.mark.own_process("psql makes the roles")
def test_the_role_of_the_server_tidies_everything_that_is_over() -> None:
    over()
    with least_rights():
        assert do_work("every-hour") == 2
    assert not PublishedKeys.objects.exists()
    assert not Session.objects.exists()


def test_what_one_part_of_tidying_refuses_keeps_no_other_from_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(**_: Any) -> int:
        raise ValueError("not these")

    for part in ("forget_expired_keys", "forget_decided"):
        monkeypatch.setattr(retention, part, refused)
    over()

    with pytest.raises(ExceptionGroup) as failed:
        forget_what_is_over()

    assert [str(one) for one in failed.value.exceptions] == ["not these", "not these"]
    assert not Session.objects.exists()
