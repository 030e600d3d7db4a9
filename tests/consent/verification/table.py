"""What one who owns the database, and in some cases the receipt key, can do to history: the table of SECURITY.md.

Each names who finds it. `chains`, `rows` and `tree` are the parts of `verify_audit`, of which the last reads the log.
`log`: the chains and the rows are made to fit each other, so only the log can tell; and with the log's key too, which
makes a flawless log of them, only who saw the log before. `approval`: the receiving app, by the signature of the vault.
`app`: the app that asked, which knows what it asked. `operator`: whoever knows what was restored.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tests.consent.verification.world import World

CHAINS, ROWS, TREE, LOG, APPROVAL, APP, OPERATOR = "chains", "rows", "tree", "log", "approval", "app", "operator"


@dataclass(frozen=True)
class Manipulation:
    """One row of the table; `complaint` is part of the finding, in its own words."""

    what: str
    found_by: str
    complaint: str
    do: Callable[[World], object]


TABLE: list[Manipulation] = []


def rows(found_by: str, *given: tuple[str, str, Callable[[World], object]]) -> None:
    """What is done, what is said of it, and the doing, where that is one change of rows."""
    TABLE.extend(Manipulation(what, found_by, complaint, do) for what, complaint, do in given)


def row(found_by: str, complaint: str = "") -> Callable[[Callable[[World], None]], Callable[[World], None]]:
    """The docstring says what is done."""

    def add(do: Callable[[World], None]) -> Callable[[World], None]:
        TABLE.append(Manipulation((do.__doc__ or "").strip().rstrip("."), found_by, complaint, do))
        return do

    return add
