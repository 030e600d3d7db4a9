"""What becomes of an account, and which are to go."""

from typing import TYPE_CHECKING, Any

from django.contrib.auth import get_user_model
from django.db.models import Q, QuerySet

from accounts.hooks import Words, leaving_rooms
from accounts.models import Erasure
from common.mailboxes import mailbox

if TYPE_CHECKING:
    from accounts.models import User


def open_erasures() -> QuerySet[Erasure]:
    """Neither taken back nor done."""
    return Erasure.objects.filter(cancelled_at=None, done_at=None)


def what_becomes(user: "User") -> list[Words]:
    """What every room says of what is this person's."""
    return [words for room in leaving_rooms() for words in room.says(user)]


def obstacles(user: "User") -> list[Words]:
    """What they have to settle first."""
    return [words for room in leaving_rooms() for words in room.obstacles(user)]


def everything_held(user: "User") -> dict[str, dict[str, Any]]:
    """{room: {name: rows}} of all that is held about a person, for a request of access."""
    return {room.name: room.export(user) for room in leaving_rooms()}


def person_named(name: str) -> "User | None":
    """Whom an operator means by an address or a own ID."""
    people = get_user_model().objects.filter(Q(public_id=name) | Q(email=mailbox(name)))
    return people.first()
