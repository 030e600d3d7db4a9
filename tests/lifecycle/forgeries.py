"""What somebody with the database's own password can do to the chains, at random.

Every kind takes the dice and the name of a chain, and returns the names under which it may be found, where these are
not those of the chain.
"""

import base64
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import Max, QuerySet

from consent.exports.models import Read
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.models import AuditChain, AuditEntry, AuditFacts, AuditHead
from consent.log.merkle import Frontier
from consent.log.models import LogLeaf, LogState
from consent.log.verifying import NAME as LOG
from tests.chains import entries_about

Tamper = Callable[[random.Random, str], set[str] | None]
_ASIDE = 10_000  # a sequence that no entry has


def edit_one_column(dice: random.Random, chain: str) -> None:
    entry = _any(dice, chain)
    column = dice.choice(["kind", "actor", "at", "facts", "facts_hash", "prev_hash", "entry_hash"])
    other = {column: _other(dice, getattr(entry, column))}
    (AuditFacts.objects.filter(entry=entry) if column == "facts" else AuditEntry.objects.filter(pk=entry.pk)).update(
        **other
    )


def erase_the_facts_of_one(dice: random.Random, chain: str) -> None:
    """Without an entry that says so."""
    AuditFacts.objects.filter(entry=_any(dice, chain)).delete()


def edit_and_hash_again(dice: random.Random, chain: str) -> None:
    """The entry fits its own hash; the one after it, or the head, does not follow it any more."""
    entry = _any(dice, chain)
    _tell_otherwise(dice, entry)
    _hash_and_save(entry, entry.prev_hash)


def edit_and_forge_the_rest(dice: random.Random, chain: str) -> None:
    """Everything after it is hashed again, the head too: only a signed checkpoint can tell."""
    entry = _any(dice, chain)
    _tell_otherwise(dice, entry)
    _forge(chain)


def delete_one(dice: random.Random, chain: str) -> None:
    _delete(AuditEntry.objects.filter(pk=_any(dice, chain).pk))


def delete_some_and_close_the_gap(dice: random.Random, chain: str) -> None:
    first = _any(dice, chain).sequence
    _delete(AuditEntry.objects.filter(chain=chain, sequence__range=(first, first + dice.randrange(3))))
    _forge(chain)


def swap_two(dice: random.Random, chain: str) -> None:
    _swap(dice, chain)


def swap_two_and_forge_the_rest(dice: random.Random, chain: str) -> None:
    _swap(dice, chain)
    _forge(chain)


def cut_off(dice: random.Random, chain: str) -> None:
    _delete(AuditEntry.objects.filter(chain=chain, sequence__gte=_any(dice, chain).sequence))


def cut_off_and_rewind_the_head(dice: random.Random, chain: str) -> None:
    cut_off(dice, chain)
    _forge(chain)


def cut_off_and_drop_the_head(dice: random.Random, chain: str) -> None:
    cut_off(dice, chain)
    AuditHead.objects.filter(chain=chain).delete()


def move_to_another_chain(dice: random.Random, chain: str) -> set[str]:
    other = dice.choice([head.chain for head in AuditHead.objects.exclude(chain=chain)])
    last = AuditEntry.objects.filter(chain=other).aggregate(last=Max("sequence"))["last"]
    AuditEntry.objects.filter(pk=_any(dice, chain).pk).update(chain=other, sequence=last + 1)
    return names_of(chain) | names_of(other)


def rewrite_the_head(dice: random.Random, chain: str) -> None:
    head = AuditHead.objects.get(chain=chain)
    if dice.random() < 0.5:
        head.sequence += dice.choice([-1, 1])
    else:
        head.entry_hash = _other(dice, head.entry_hash)
    head.save()


def forge_the_log_too(dice: random.Random, chain: str) -> set[str]:
    """The leaves, tiles and edge are made to fit what was rewritten; only what was signed does not fit any more."""
    edit_and_forge_the_rest(dice, chain)
    frontier = Frontier()
    for leaf in LogLeaf.objects.select_related("entry").order_by("log_index"):
        leaf.entry_hash = base64.urlsafe_b64decode(f"{leaf.entry.entry_hash}=")
        leaf.save()
        frontier.append([leaf.entry_hash])
    LogState.objects.update(frontier=frontier.to_bytes())


def edit_a_read(dice: random.Random, chain: str) -> set[str]:
    """The chains hold the reads by the hash of each batch; another time, another grant or another batch shows."""
    read = _any_read(dice)
    changes: list[dict[str, Any]] = [
        {"at": read.at - timedelta(seconds=dice.randrange(1, 9999))},
        {"grant": dice.choice(list(Grant.objects.exclude(pk=read.grant_id)))},
        {"batch": _other(dice, read.batch)},
    ]
    Read.objects.filter(pk=read.pk).update(**dice.choice(changes))
    return {audit.person_chain(read.grant.user.public_id)}


def delete_a_read(dice: random.Random, chain: str) -> set[str]:
    read = _any_read(dice)
    Read.objects.filter(pk=read.pk).delete()
    return {audit.person_chain(read.grant.user.public_id)}


def slip_a_read_in(dice: random.Random, chain: str) -> set[str]:
    """As if it had been chained with the others."""
    read = _any_read(dice)
    read.pk = Read.objects.aggregate(last=Max("pk"))["last"] + 1
    read.save(force_insert=True)
    first = entries_about("person:").filter(kind="reads").with_facts(batch=read.batch).get()
    AuditFacts.objects.filter(entry=first).update(
        facts={**first.facts, "last": read.pk, "count": first.facts["count"] + 1}
    )
    return names_of(first.chain)


KINDS: tuple[Tamper, ...] = (
    edit_one_column,
    erase_the_facts_of_one,
    edit_and_hash_again,
    edit_and_forge_the_rest,
    delete_one,
    delete_some_and_close_the_gap,
    swap_two,
    swap_two_and_forge_the_rest,
    cut_off,
    cut_off_and_rewind_the_head,
    cut_off_and_drop_the_head,
    move_to_another_chain,
    rewrite_the_head,
    forge_the_log_too,
    edit_a_read,
    delete_a_read,
    slip_a_read_in,
)


def names_of(chain: str) -> set[str]:
    """What is said of a chain is said of whom it is about."""
    return {AuditChain.objects.get(chain=chain).subject, LOG}


def _tell_otherwise(dice: random.Random, entry: AuditEntry) -> None:
    entry.kept.facts = _other(dice, entry.kept.facts)
    entry.kept.save()


def _delete(entries: QuerySet[AuditEntry]) -> None:
    AuditFacts.objects.filter(entry__in=entries).delete()
    with connection.cursor() as cursor:
        for pk in entries.values_list("pk", flat=True):  # the log's leaves hold nobody who has no triggers
            cursor.execute("DELETE FROM consent_audit WHERE id = %s", [pk])


def _any(dice: random.Random, chain: str) -> AuditEntry:
    return dice.choice(list(AuditEntry.objects.filter(chain=chain).order_by("sequence")))


def _any_read(dice: random.Random) -> Read:
    return dice.choice(list(Read.objects.order_by("pk").select_related("grant__user")))


def _other(dice: random.Random, value: Any) -> Any:
    """Something like it that it is not."""
    if isinstance(value, dict):
        name = dice.choice([*value, "more"])
        return {**value, name: f"{value.get(name)}!"}
    if isinstance(value, str):
        place = dice.randrange(len(value) or 1)  # never longer: the column would refuse it before anybody verifies
        return value[:place] + ("a" if value[place : place + 1] != "a" else "b") + value[place + 1 :]
    return value + timedelta(seconds=dice.choice([-1, 1, 3600]))


def _swap(dice: random.Random, chain: str) -> None:
    one, other = dice.sample(list(AuditEntry.objects.filter(chain=chain)), 2)
    for entry, sequence in ((one, _ASIDE), (other, one.sequence), (one, other.sequence)):
        AuditEntry.objects.filter(pk=entry.pk).update(sequence=sequence)


def _forge(chain: str) -> None:
    """Number and hash what is there from the first entry on, and let the head fit: the chain itself is flawless."""
    sequence, previous = 0, audit.GENESIS
    for sequence, entry in enumerate(AuditEntry.objects.filter(chain=chain).order_by("sequence"), start=1):
        entry.sequence = sequence
        _hash_and_save(entry, previous)
        previous = entry.entry_hash
    AuditHead.objects.filter(chain=chain).update(sequence=sequence, entry_hash=previous)


def _hash_and_save(entry: AuditEntry, previous: str) -> None:
    entry.prev_hash = previous
    entry.facts_hash = audit.facts_hash(entry.kept.facts, bytes(entry.kept.salt))
    entry.entry_hash = audit.entry_hash(
        chain=entry.chain, sequence=entry.sequence, prev_hash=previous, kind=entry.kind, actor=entry.actor,
        at=entry.at, facts_hash=entry.facts_hash,
    )  # fmt: skip
    entry.save()
