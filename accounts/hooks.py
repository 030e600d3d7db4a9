"""What the rooms above have to do with a person who leaves. They register in `ready`; nothing here knows them.

Erasing runs through the rooms by `order`: first everything that tells others (`ends`), then everything that goes
(`rows`), a transaction each. A step that was done does nothing when it is done again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.dispatch import Signal

from accounts.models import Erasure, User
from common.sql.erasing import PersonalRows
from common.text import StrOrPromise

access_taken_back = Signal()  # user: their password was reset by mail, or they signed out everywhere else
# by, user_ids, what, rows: a member of staff was shown rows about these people (public ids). Sent inside a transaction;
# a receiver that fails keeps the page from being shown.
staff_viewed = Signal()


def _nothing(user: User) -> list[StrOrPromise]:
    return []


@dataclass(frozen=True)
class Answered:
    """What became of a request, made elsewhere, to delete what somebody there had received.

    `label` and `tone` are its badge; `receipt` is what this service signed of the receiver's `answer`.
    """

    name: StrOrPromise
    label: StrOrPromise
    tone: str
    at: datetime | None = None
    answer: str = ""
    receipt: str = ""


@dataclass(frozen=True)
class RoomErasure:
    """One room's part in a person's leaving.

    `outcomes`: sentences on what becomes of what is theirs. `obstacles`: sentences on what they have to settle
    themselves first. `ends`: what ends, told to whom it concerns; outside of a transaction. `before_rows`: what is
    written in the transaction in which `rows` go. `afterwards`: who else was asked to delete something. `tables`:
    {table: what becomes of it}, for every table that leads to a person. `export`: {name: what is held in clear, or
    sealed}, as JSON takes it.
    """

    name: str
    order: int
    rows: PersonalRows
    tables: Mapping[str, str]
    outcomes: Callable[[User], list[StrOrPromise]] = _nothing
    obstacles: Callable[[User], list[StrOrPromise]] = _nothing
    ends: Callable[[User], None] = lambda user: None
    before_rows: Callable[[Erasure], None] = lambda erasure: None
    afterwards: Callable[[Erasure], list[Answered]] = lambda erasure: []
    export: Callable[[User], dict[str, Any]] = lambda user: {}


_rooms: dict[str, RoomErasure] = {}


def register_room(room: RoomErasure) -> None:
    """Make a room part of erasure and of the answer to a request of access."""
    _rooms[room.name] = room


def room_erasures() -> list[RoomErasure]:
    """All of them, in the order in which they are erased."""
    return sorted(_rooms.values(), key=lambda room: room.order)
