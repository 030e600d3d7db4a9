"""The table of tests/access as a page for people: docs/access.md, made by `write` with Django set up."""

from pathlib import Path

from tests.access.answers import Row
from tests.access.callers import Caller
from tests.access.table import ROWS

FILE = Path(__file__).resolve().parents[2] / "docs" / "access.md"
_HEAD = """# Who is answered what

Made from `tests/access/table.py`, which the tests hold against the running addresses: every address of the URL
configuration has a row, and each caller is tried at each. Person A keeps what is named and app A asked for it; B are
others. `302 sign-in` leads to signing in, `302 confirm` to showing once more that it is you. What is another's and what
is not there are answered with the same bytes. The admin's addresses (Django's own, for each record) are tried as well:
they open to staff who signed in with a second factor, and to nobody else.

"""


def page() -> str:
    """The whole page."""
    callers = list(Caller)
    head = "| address | " + " | ".join(caller.value for caller in callers) + " |"
    line = "|---|" + "---|" * len(callers)
    return _HEAD + "\n".join([head, line, *(_line(row, callers) for row in ROWS)]) + "\n"


def _line(row: Row, callers: list[Caller]) -> str:
    answers = " | ".join(row.answers[caller] for caller in callers)
    return f"| {row.method} `/{row.route}` | {answers} |"


def write() -> None:
    """Make docs/access.md anew."""
    FILE.write_text(page())
