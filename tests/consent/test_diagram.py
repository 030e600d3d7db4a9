"""The diagram in the docs is the table."""

from django.conf import settings

from consent.diagram import page
from consent.states import GRANT_MOVES, REQUEST_MOVES


def test_the_docs_show_the_tables_as_they_are() -> None:
    assert (settings.ROOT / "docs" / "lifecycle.md").read_text() == page()


def test_every_move_is_drawn() -> None:
    drawn = {
        tuple(line.split(":")[0].split(" --> ")) for line in page().splitlines() if ": " in line and " --> " in line
    }

    moves = {
        (f"    {old}", str(new))
        for table in (REQUEST_MOVES, GRANT_MOVES)
        for old, news in table.items()
        for new in news
    }
    assert drawn == moves
