"""What protects a person commits, whether or not it can be written down at once (decision 0016)."""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from django.db import InterfaceError, transaction

from accounts.models import User
from common.clock import database_now
from common.sql.statements import locks_waited_for
from consent.event_types import EventType
from consent.ledger import audit
from consent.states import Actor


def own_entry(by: User, kind: EventType, facts: dict[str, Any]) -> dict[str, Any]:
    """For the person's own chain alone: the app's would tell it."""
    return {
        "chain": audit.person_chain(by.public_id),
        "kind": kind.value,
        "actor": Actor.PERSON.value,
        "at": database_now(),
        "facts": facts,
    }


_log = logging.getLogger(__name__)
_LOCK_TIMEOUT = "3s"  # somebody who holds a chain longer than this holds up nobody who wants to stop


def try_write(
    write: Callable[[], object], *, otherwise: Callable[[], object] | None = None, what: str, about: str
) -> bool:
    """Do `write`, else `otherwise`, else neither: the transaction around them can commit in every case.

    Whether one of them was done. `what` could not be written, in the words of the log; `about` is the identifier of
    what it tells of. A database that went away fails as it always does.
    """
    if _is_done(write):
        return True
    if otherwise is None or not _is_done(otherwise):
        _log.critical("%s of %s could not be kept and has to be derived from what it changed", what, about)
        return False
    _log.error("%s of %s cannot be written now and waits in audit_pending", what, about)
    return True


def append_or_defer(*, chain: str, kind: str, actor: str, at: datetime, facts: dict[str, Any], about: str) -> None:
    """An entry in one chain alone, of something that protects a person and carries no receipt."""
    try_write(
        lambda: audit.append(chain=chain, kind=kind, actor=actor, at=at, facts=facts),
        otherwise=lambda: audit.defer(chain=chain, kind=kind, actor=actor, at=at, facts=facts),
        what=f"the audit entry “{kind}”",
        about=about,
    )


def lock_heads(chains: Iterable[str]) -> None:
    """Take these heads in the one order before several ends in one transaction, where they can be taken at all."""
    _is_done(lambda: audit.lock_heads(chains))


def _is_done(work: Callable[[], object]) -> bool:
    """Whether `work` was done; where it was not, nothing of it is left."""
    try:
        with transaction.atomic(), locks_waited_for(_LOCK_TIMEOUT):
            work()
    except InterfaceError:
        raise
    except Exception:  # a lost privilege, a full disk, a key that cannot sign: none of them keeps anybody from stopping
        if transaction.get_rollback():  # not even the savepoint could be taken back: the connection is gone
            raise
        _log.exception("the audit cannot be written")
        return False
    return True
