"""Changes of a team at the same moment, on PostgreSQL: an owner stays, and each thing happens once."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, connections

from common.problems import Problem
from developers.members import actions, invitations
from developers.models import AppAuditEntry, AppInvitation, AppMember
from tests.factories import MemberFactory, TestAppFactory

pytestmark = [
    pytest.mark.django_db(transaction=True),  # calls at once, each with a connection of its own
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one write at a time"),
]


def at_once(*acts: Callable[[], Any]) -> list[str]:
    """What each came to: "done", or the code of its refusal."""
    barrier, found = threading.Barrier(len(acts)), [""] * len(acts)

    def run(number: int, act: Callable[[], Any]) -> None:
        barrier.wait()
        try:
            act()
            found[number] = "done"
        except Problem as problem:
            found[number] = problem.code
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(found)


def test_two_owners_who_remove_each_other_leave_one() -> None:
    for _ in range(10):
        one = MemberFactory(app=TestAppFactory())
        other = MemberFactory(app=one.app)

        found = at_once(
            lambda one=one, other=other: actions.remove_member(member=other, by=one.user),
            lambda one=one, other=other: actions.remove_member(member=one, by=other.user),
        )

        assert found == ["done", "owner_required"]
        assert AppMember.objects.filter(app=one.app, role="owner").count() == 1


def test_two_owners_who_leave_at_once_leave_one() -> None:
    for _ in range(10):
        app = TestAppFactory()
        both = [MemberFactory(app=app), MemberFactory(app=app)]

        found = at_once(*(lambda own=own: actions.remove_member(member=own, by=own.user) for own in both))

        assert found == ["done", "last_owner"]


def test_twenty_invitations_to_one_address_at_once_make_one(settings: Any) -> None:
    settings.INVITATIONS_PER_DAY = 0
    own = MemberFactory(app=TestAppFactory())

    found = at_once(*(lambda: invitations.invite(app=own.app, email="new@example.org", by=own.user) for _ in range(20)))

    assert found == ["already_invited"] * 19 + ["done"]
    assert AppInvitation.objects.count() == AppAuditEntry.objects.count() == 1
