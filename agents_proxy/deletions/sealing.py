"""Whom a receiver is to forget, as rows keep it: under the server's key, and of this row alone.

Whoever writes the database can neither read it nor put one person's in the place of another's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import orjson

from agents_proxy.deletions.models import Deletion
from agents_proxy.processing_consent.identifiers import Identifiers
from common import encryption

MOST_ACTIVATIONS = 1000  # that one request names, the newest ones


@dataclass(frozen=True)
class Subject:
    """What the receiver was told of somebody, and the sendings that it got; or the token of an access to be ended.

    `consent` is the ID of the former consent under which alone it is to forget this; empty where the row's own says it,
    or all of somebody's is meant.
    """

    identifiers: Identifiers
    activations: Sequence[str] = ()
    access: str = ""
    consent: str = ""

    def united(self, *others: "Subject") -> "Subject":
        """With all that any of `others` has."""
        all_of = (self, *others)
        return Subject(
            Identifiers(
                _once(email for one in all_of for email in one.identifiers.emails),
                _once(number for one in all_of for number in one.identifiers.phone_numbers),
            ),
            _once(name for one in all_of for name in one.activations)[:MOST_ACTIVATIONS],
        )


def sealed(subject: Subject, deletion_id: str) -> str:
    """For the row of this ID."""
    kept = {
        "row": deletion_id, **subject.identifiers.body(), "activations": list(subject.activations),
        "access": subject.access, "consent": subject.consent,
    }  # fmt: skip
    return encryption.sealed(orjson.dumps(kept).decode())


def opened(row: Deletion) -> Subject:
    """What the row holds; raises `common.encryption.DecryptionFailed`, also for what belongs to another row."""
    kept = orjson.loads(encryption.opened(row.subject or ""))
    if kept["row"] != row.deletion_id:
        raise encryption.DecryptionFailed("This was sealed for another row.")
    identifiers = Identifiers(tuple(kept["emails"]), tuple(kept["phone_numbers"]))
    return Subject(identifiers, tuple(kept["activations"]), kept["access"], kept["consent"])


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
