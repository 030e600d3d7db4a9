"""Access that nobody uses ends by itself, after its person was told."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail

from accounts.models import ActorProfile, User
from common.clock import database_now
from consent.decisions import unused
from consent.errors import MoveNotAllowed, UnknownGrant
from consent.grants.models import UNUSED_NOTICE, Grant
from consent.ledger import verifying
from consent.ledger.models import Receipt
from consent.notices.models import Notice
from consent.web.history import happened
from consent.web.history_filter import Chosen
from tests.factories import ExportFactory, GrantFactory, PersonFactory, ReadFactory, SandboxPersonFactory
from tests.outbox import send_mails

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def shared_for(days: float, *, by: User, read: float | None = None, **fields: Any) -> Grant:
    """What this person shares since so many days, for a year; `read` is how many days ago it was read."""
    now = database_now()
    given = {"starts_at": now - days * DAY, "expires_at": now + (365 - days) * DAY, **fields}
    export = ExportFactory(grant=GrantFactory(request__user=by, **given))
    if read is not None:
        ReadFactory(export=export, at=now - read * DAY)
    return Grant.objects.get(pk=export.grant_id)


def announced_at(grant: Grant) -> Any:
    return Grant.objects.get(pk=grant.pk).unused_ends_at


def time_passes(grant: Grant, **by: float) -> None:
    """What is looked at later is looked at now; times of grants do not change by themselves."""
    found = Grant.objects.get(pk=grant.pk)
    moved = {name: getattr(found, name) - timedelta(**by) for name in ("unused_look_at", "unused_ends_at")
             if getattr(found, name)}  # fmt: skip
    Grant.objects.filter(pk=grant.pk).update(**moved)


def test_nobody_read_it_so_its_person_is_told_and_it_ends(person: User) -> None:
    grant, fresh = shared_for(60, by=person), shared_for(52, by=person)
    used = shared_for(300, by=person, read=10)

    assert (unused.is_due(), unused.end_unused(), unused.is_due()) == (True, 1, False)

    assert timedelta(days=6, hours=23) < announced_at(grant) - database_now() <= UNUSED_NOTICE
    assert (announced_at(fresh), announced_at(used)) == (None, None)
    assert (send_mails(), send_mails()) == (1, 0)
    [written] = mail.outbox
    assert (written.to, written.subject) == ([person.email], "Access that nobody used ends soon")
    assert grant.request.app_name in written.body
    assert "/consent/" in written.body
    time_passes(grant, days=6)
    assert unused.end_unused() == 0
    time_passes(grant, days=1, hours=1)
    assert unused.end_unused() == 1
    ended = Grant.objects.get(pk=grant.pk)
    assert (ended.status, ended.ended_by, ended.end_reason) == ("revoked", "system", "unused")
    assert set(ended.exports.values_list("ciphertext", flat=True)) == {None}
    assert Receipt.objects.filter(request=grant.request).count() == 1
    assert Notice.objects.get(request=grant.request).kind == "consent.revoked"
    assert [line.title for line in happened(person, Chosen()) if line.kind == "ended_unused"] == [
        f"{grant.request.app_name}'s access to “Food and drink” ended by itself: nobody used it"
    ]
    assert list(verifying.verify()) == []
    assert set(Grant.objects.live(database_now())) == {fresh, used}


def test_a_read_after_the_notice_keeps_it(person: User) -> None:
    grant = shared_for(60, by=person)
    unused.end_unused()
    ReadFactory(export=grant.exports.get())
    time_passes(grant, days=8)

    assert unused.end_unused() == 0

    kept = Grant.objects.get(pk=grant.pk)
    assert (kept.status, kept.unused_ends_at) == ("active", None)
    assert kept.unused_look_at > database_now() + 52 * DAY


def test_a_person_keeps_what_nobody_reads(person: User) -> None:
    grant = shared_for(60, by=person)
    unused.end_unused()

    unused.keep_unused(grant_id=grant.grant_id, by=person)

    assert announced_at(grant) is None
    assert unused.end_unused() == 0
    time_passes(grant, days=53, hours=1)
    assert unused.end_unused() == 1  # told once more, as long afterwards


def test_nobody_keeps_what_is_not_theirs_or_over(person: User) -> None:
    theirs = shared_for(60, by=PersonFactory())
    over = shared_for(10, by=person, expires_at=database_now() - timedelta(hours=1))

    with pytest.raises(UnknownGrant):
        unused.keep_unused(grant_id=theirs.grant_id, by=person)
    with pytest.raises(MoveNotAllowed):
        unused.keep_unused(grant_id=over.grant_id, by=person)


@pytest.mark.parametrize(("days", "found"), [(30, 1), (60, 0), (180, 0), (0, 0)])
def test_each_person_says_after_how_long(person: User, days: int, found: int) -> None:
    grant = shared_for(40, by=person)
    assert unused.end_unused() == 0

    unused.choose_unused_days(by=person, days=days)

    assert ActorProfile.objects.get(user=person).unused_days == days
    assert unused.end_unused() == found
    assert (announced_at(grant) is not None) == bool(found)


def test_never_takes_back_what_was_announced(person: User) -> None:
    grant = shared_for(400, by=person, expires_at=database_now() + 30 * DAY)
    unused.end_unused()

    unused.choose_unused_days(by=person, days=0)
    time_passes(grant, days=100)

    assert unused.end_unused() == 0
    assert announced_at(grant) is None
    with pytest.raises(ValueError, match="7"):
        unused.choose_unused_days(by=person, days=7)


def test_what_is_paused_or_ends_anyway_is_left_alone(person: User) -> None:
    shared_for(60, by=person, status="paused")
    soon = shared_for(60, by=person, expires_at=database_now() + 3 * DAY)

    assert unused.end_unused() == 0

    assert announced_at(soon) is None


def test_several_are_one_mail_and_sandbox_people_get_none(person: User) -> None:
    shared = [shared_for(60 + number, by=person) for number in range(22)]
    shared_for(60, by=SandboxPersonFactory().user)

    assert unused.end_unused() == 23

    assert (send_mails(), send_mails()) == (1, 0)
    body = mail.outbox[0].body
    assert body.count(": until ") == 20
    assert "- and 2 more" in body
    assert len(shared) == 22


def test_one_that_cannot_be_written_keeps_no_other(person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, sound = shared_for(60, by=person), shared_for(60, by=person)
    look = unused._look

    def fail(grant_pk: int) -> int:
        if grant_pk == broken.pk:
            raise RuntimeError("no")
        return look(grant_pk)

    monkeypatch.setattr(unused, "_look", fail)

    assert unused.end_unused() == 1
    assert announced_at(sound)
