"""Reads and notices that were kept long enough go, and what stays still proves what it did."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import IntegrityError, connection, transaction

from accounts.erasure import actions as erasure_actions
from common import clock
from common.sql.triggers import lifted
from consent import retention
from consent.decisions import actions as decision_actions
from consent.exports import forgetting
from consent.exports.models import ForgottenReads, Read
from consent.exports.read_batches import chain_pending_reads
from consent.grants.models import Grant
from consent.ledger.models import AuditEntry
from consent.notices import forgetting as notice_forgetting
from consent.notices.models import Notice, NoticeCounter
from consent.retention import forget_old_records
from consent.rules import RULES
from consent.verification.run import Position, run
from developers.models import App
from tests.consent.decisions import approval
from tests.factories import (
    AppFactory,
    ConsentRequestFactory,
    ReadFactory,
    TokenFactory,
    Vault,
    WebhookDeliveryFactory,
    WebhookEndpointFactory,
)
from tests.least_rights import least_rights

pytestmark = pytest.mark.django_db
Before = Callable[[float], AbstractContextManager[None]]


@pytest.fixture
def before() -> Before:
    """Within it every module takes it for so many days ago; the database's own rules know better."""
    real = clock.database_now

    @contextmanager
    def days_ago(days: float) -> Iterator[None]:
        def then() -> Any:
            return real() - timedelta(days=days)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(time, "time", lambda: then().timestamp())  # of the bridge, which signs
            for module in list(sys.modules.values()):
                if getattr(module, "database_now", None) is real:
                    patched.setattr(module, "database_now", then)
            yield

    return days_ago


def approved(vault: Vault, app: App) -> Grant:
    """Approved when the modules say that it is."""
    soon = datetime.now(UTC) + timedelta(hours=1)  # where the database decides whether it is too late
    request = ConsentRequestFactory(app=app, user=vault.user, created_at=clock_of_modules(), expires_at=soon)
    decision_actions.approve(request_id=request.request_id, by=vault.user, body=approval(request, vault))
    return Grant.objects.get(request=request)


def clock_of_modules() -> Any:
    return forgetting.database_now()


def read(grant: Grant, times: int) -> None:
    """Read so many times and chained in one entry, both when the modules say that it is."""
    token = TokenFactory(app=grant.app)
    for _ in range(times):
        ReadFactory(grant=grant, export=grant.exports.get(), token=token, at=clock_of_modules())
    Grant.objects.filter(pk=grant.pk).update(reads=Read.objects.filter(grant=grant).count())
    assert chain_pending_reads() == times


def what_is_wrong() -> list[str]:
    return [broken.reason for found in run(Position()) for broken in found]


def read_over_the_years(vault: Vault, before: Before) -> Grant:
    """Twice before the last day that is kept, once on it, and once today; with what happened to others beside."""
    kept = settings.READS_KEPT_DAYS
    with before(kept + 9):
        grant = approved(vault, AppFactory())
        read(grant, 2)
    with before(kept + 5):
        read(grant, 3)
    with before(kept - 5):
        read(grant, 1)
    read(grant, 1)
    return grant


# --- Reads ------------------------------------------------------------------------------------------------------------
def test_reads_go_when_the_entry_that_holds_them_is_old_enough(vault: Vault, before: Before) -> None:
    grant = read_over_the_years(vault, before)
    entries = list(AuditEntry.objects.order_by("pk").values_list("entry_hash", flat=True))
    assert what_is_wrong() == []

    assert (forget_old_records(), forget_old_records()) == (5, 0)

    assert Read.objects.filter(grant=grant).count() == 2
    assert Grant.objects.get(pk=grant.pk).reads == 7
    assert list(AuditEntry.objects.order_by("pk").values_list("entry_hash", flat=True)) == entries
    assert what_is_wrong() == []


def test_later_reads_go_when_their_time_comes(vault: Vault, before: Before) -> None:
    read_over_the_years(vault, before)
    with before(-6):  # in six days
        assert forget_old_records() == 6
    assert what_is_wrong() == []
    assert Read.objects.count() == 1


def test_reads_go_in_bounded_transactions_and_together_with_their_entry(
    vault: Vault, before: Before, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forgetting, "_READS", 1)
    monkeypatch.setattr(forgetting, "_ENTRIES", 1)
    read_over_the_years(vault, before)

    went = []
    while count := forgetting.forget_reads(most_seconds=0):
        went.append(count)
        assert what_is_wrong() == []
    # an entry tells of something else than reads: it is gone past, and nothing went
    assert sum(went) + forgetting.forget_reads(most_seconds=20) == 5


def test_a_read_whose_entry_is_younger_stays(vault: Vault, before: Before) -> None:
    """Its chain could not be written for a while."""
    kept = settings.READS_KEPT_DAYS
    with before(kept + 9):
        grant = approved(vault, AppFactory())
        ReadFactory(grant=grant, export=grant.exports.get(), at=clock_of_modules())
    Grant.objects.filter(pk=grant.pk).update(reads=1)
    assert forget_old_records() == 0  # no entry holds it

    with before(kept - 5):
        assert chain_pending_reads() == 1
    assert forget_old_records() == 0
    assert what_is_wrong() == []


def test_reads_of_a_person_who_left_stay_nobodys(vault: Vault, before: Before) -> None:
    read_over_the_years(vault, before)
    erasure = erasure_actions.order_erasure(of=vault.user)
    assert erasure_actions.erase(erasure_pk=erasure.pk)

    assert forgetting.forget_reads(most_seconds=20) == 0
    assert Read.objects.count() == 7
    assert what_is_wrong() == []


@pytest.mark.own_process("psql makes the roles")
def test_the_role_of_the_server_deletes_what_is_old_enough(vault: Vault, before: Before) -> None:
    read_over_the_years(vault, before)
    notices_over_the_years(AppFactory())
    with least_rights():
        assert forget_old_records() == 5 + 2


def test_what_one_table_refuses_keeps_no_other_from_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*, most_seconds: float) -> int:
        raise ValueError("not these")

    monkeypatch.setattr(retention, "forget_reads", refused)
    app = AppFactory()
    before = notices_over_the_years(app)

    with pytest.raises(ExceptionGroup) as failed:
        forget_old_records()

    assert [str(one) for one in failed.value.exceptions] == ["not these"]
    assert Notice.objects.filter(app=app).count() == len(before) - 2


@pytest.mark.parametrize("days", [0, 1, 364])
def test_the_database_keeps_every_read_and_notice_for_a_year(days: int, before: Before) -> None:
    with before(days):
        read_row = ReadFactory(at=clock_of_modules(), batch="A" * 43)
        notice = notices_of(AppFactory(), [("consent.denied", days)])[0]
    for row in (read_row, notice):
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            type(row).objects.filter(pk=row.pk).delete()


def test_the_database_lets_older_ones_go_but_no_read_that_no_entry_holds(before: Before) -> None:
    with before(366):
        unchained, chained = ReadFactory(at=clock_of_modules()), ReadFactory(at=clock_of_modules(), batch="A" * 43)
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        Read.objects.filter(pk=unchained.pk).delete()
    assert Read.objects.filter(pk=chained.pk).delete()[0] == 1


# --- What verification makes of reads that are not there --------------------------------------------------------------
def force(statement: str, *values: Any) -> None:
    """As the owner of the database, whom no trigger stops."""
    connection.check_constraints()  # a table with checks that wait cannot be altered
    rules = [rule for rule in RULES if rule.trigger == "consent_reads_no_delete"]
    with lifted(connection, rules), connection.cursor() as cursor:
        cursor.execute(statement, values)


def test_old_reads_that_went_without_the_mark_are_missed(vault: Vault, before: Before) -> None:
    grant = read_over_the_years(vault, before)
    oldest = Read.objects.order_by("pk")[0]
    Read.objects.filter(batch=oldest.batch).delete()
    Grant.objects.filter(pk=grant.pk).update(reads=5)
    assert "the reads that it holds are not as they were" in what_is_wrong()


def test_the_mark_hides_no_young_read(vault: Vault, before: Before) -> None:
    read_over_the_years(vault, before)
    newest = Read.objects.order_by("-pk")[0]
    force("DELETE FROM consent_reads WHERE id = %s", newest.pk)
    ForgottenReads.objects.create(pk=1, entry=AuditEntry.objects.latest("pk").pk)
    assert "the reads that it holds are not as they were" in what_is_wrong()


def test_the_mark_hides_no_part_of_old_reads(vault: Vault, before: Before) -> None:
    """Whoever takes some of the old reads and moves the mark leaves others, which no entry holds any more."""
    grant = read_over_the_years(vault, before)
    Read.objects.filter(pk=Read.objects.order_by("pk")[0].pk).delete()
    Grant.objects.filter(pk=grant.pk).update(reads=6)
    ForgottenReads.objects.create(pk=1, entry=AuditEntry.objects.latest("pk").pk)
    assert any("reads are chained, and the entries hold" in reason for reason in what_is_wrong())


@pytest.mark.parametrize("reads", [1, 6, 8])
def test_a_number_of_reads_that_fits_nothing_is_found_where_reads_went(
    vault: Vault, before: Before, reads: int
) -> None:
    grant = read_over_the_years(vault, before)
    forget_old_records()
    Grant.objects.filter(pk=grant.pk).update(reads=reads)
    assert any("was read" in reason or "kept long enough" in reason for reason in what_is_wrong())


# --- Notices ----------------------------------------------------------------------------------------------------------
def notices_of(app: App, events: list[tuple[str, float]], *, begin: int = 1) -> list[Notice]:
    """What the app was told of one request: (kind, how many days ago) of each."""
    request = ConsentRequestFactory(app=app)
    facts = {"request_id": request.request_id, "user_id": request.pairwise_id, "scope": request.scope}
    NoticeCounter.objects.update_or_create(app=app, defaults={"sequence": begin + len(events) - 1})
    return [
        Notice.objects.create(
            app=app, request=request, sequence=number, kind=kind, facts={**facts, "sequence": number},
            at=datetime.now(UTC) - timedelta(days=days),
        )
        for number, (kind, days) in enumerate(events, start=begin)
    ]  # fmt: skip


def notices_over_the_years(app: App) -> list[Notice]:
    old, young = settings.NOTICES_KEPT_DAYS + 5, settings.NOTICES_KEPT_DAYS - 5
    first = notices_of(
        app,
        [("consent.approved", old), ("consent.paused", old), ("consent.resumed", old), ("export.updated", old)],
    )
    return [*first, *notices_of(app, [("consent.denied", old)], begin=5), *notices_of(app, [("x", young)], begin=6)]


def numbers(app: App) -> list[int]:
    return list(Notice.objects.filter(app=app).order_by("sequence").values_list("sequence", flat=True))


def gaps() -> list[str]:
    return [reason for reason in what_is_wrong() if "told" in reason]


def test_old_notices_go_but_the_newest_of_each_request_and_of_its_state() -> None:
    app, other = AppFactory(), AppFactory()
    notices_over_the_years(app)
    notices_over_the_years(other)
    assert gaps() == []

    assert (forget_old_records(), forget_old_records()) == (4, 0)

    assert numbers(app) == numbers(other) == [3, 4, 5, 6]
    assert NoticeCounter.objects.get(app=app).forgotten == 5
    assert gaps() == []


def test_notices_go_on_from_where_the_last_run_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notice_forgetting, "_LOOKED_AT", 1)
    app = AppFactory()
    notices_over_the_years(app)

    forgotten = []
    while notice_forgetting.forget_notices(most_seconds=0) or notice_forgetting.forgotten_up_to(app.pk) < 5:
        forgotten.append(notice_forgetting.forgotten_up_to(app.pk))
        assert gaps() == []
    assert forgotten == [1, 2, 3, 4]
    assert numbers(app) == [3, 4, 5, 6]


def test_a_notice_with_a_delivery_stays_and_so_does_what_follows_it() -> None:
    app = AppFactory()
    notices = notices_over_the_years(app)
    WebhookDeliveryFactory(notice=notices[1], endpoint=WebhookEndpointFactory(app=app))

    assert forget_old_records() == 1
    assert numbers(app) == [2, 3, 4, 5, 6]
    assert NoticeCounter.objects.get(app=app).forgotten == 1


def test_a_missing_young_notice_is_found_whatever_the_counter_says() -> None:
    app = AppFactory()
    notices_of(app, [("consent.denied", 1), ("x", 1), ("x", 1)])
    with transaction.atomic():
        NoticeCounter.objects.filter(app=app).update(forgotten=3)
    assert any("is said to be old, and is not" in reason for reason in what_is_wrong())
