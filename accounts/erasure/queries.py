"""What becomes of an account, and which are to go."""

from typing import Any

from django.db.models import Q, QuerySet

from accounts.hooks import Answered, room_erasures
from accounts.models import Erasure, User
from common.mail import mailbox
from common.text import StrOrPromise


def open_erasures() -> QuerySet[Erasure]:
    """Neither taken back nor done."""
    return Erasure.objects.filter(cancelled_at=None, done_at=None)


def consequences_of(user: User) -> list[StrOrPromise]:
    """What every room says of what is this person's."""
    return [words for room in room_erasures() for words in room.outcomes(user)]


def obstacles(user: User) -> list[StrOrPromise]:
    """What they have to settle first."""
    return [words for room in room_erasures() for words in room.obstacles(user)]


def done_by_mail(digest: str) -> Erasure | None:
    """The erasure, carried out, that the link of this mail could have kept from happening."""
    return Erasure.objects.filter(done_at__isnull=False, undo_digest=digest).first() if digest else None


def answers_elsewhere(erasure: Erasure) -> list[Answered]:
    """What became of every request to others to delete what they had received."""
    return [answered for room in room_erasures() for answered in room.afterwards(erasure)]


def personal_data_of(user: User) -> dict[str, dict[str, Any]]:
    """{room: {name: rows}} of all that is held about a person, for a request of access."""
    return {room.name: room.export(user) for room in room_erasures()}


def person_named(name: str) -> User | None:
    """Whom an operator means by an address or an own ID."""
    people = User.objects.filter(Q(public_id=name) | Q(email=mailbox(name)))
    return people.first()
