"""asvs.csv has every requirement of OWASP ASVS 5.0.0 at levels 1 and 2 once; docs/assurance.md says what is not met.

The subjects are in our words, shorter than the standard's, whose text decides. A requirement is met where the code or
the documents do what is asked; where no test is named, nothing would notice if that changed.
"""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLE, SUMMARY = Path(__file__).with_name("asvs.csv"), ROOT / "docs" / "assurance.md"
STATES = ("met", "partly", "not met", "does not apply")
# how many requirements of levels 1 and 2 each section of 5.0.0 has, in its order
SECTIONS = {
    1: {1: 2, 2: 9, 3: 11, 4: 3, 5: 2},
    2: {1: 3, 2: 3, 3: 4, 4: 1},
    3: {2: 2, 3: 4, 4: 6, 5: 5, 7: 2},
    4: {1: 3, 2: 1, 3: 2, 4: 4},
    5: {1: 1, 2: 3, 3: 2, 4: 3},
    6: {1: 3, 2: 12, 3: 4, 4: 4, 5: 5, 6: 3, 8: 4},
    7: {1: 3, 2: 4, 3: 2, 4: 5, 5: 2, 6: 2},
    8: {1: 2, 2: 3, 3: 1, 4: 1},
    9: {1: 3, 2: 4},
    10: {1: 2, 2: 2, 3: 4, 4: 11, 5: 5, 6: 2, 7: 3},
    11: {1: 2, 2: 3, 3: 3, 4: 4, 5: 1, 6: 1},
    12: {1: 3, 2: 2, 3: 4},
    13: {1: 1, 2: 5, 3: 2, 4: 5},
    14: {1: 2, 2: 4, 3: 3},
    15: {1: 3, 2: 3, 3: 7},
    16: {1: 1, 2: 5, 3: 4, 4: 3, 5: 3},
    17: {1: 1, 2: 4, 3: 2},
}
WANTED = [
    f"v5.0.0-{chapter}.{section}.{number}"
    for chapter, sections in SECTIONS.items()
    for section, count in sections.items()
    for number in range(1, count + 1)
]


def rows() -> list[list[str]]:
    with TABLE.open(newline="") as file:
        return list(csv.reader(file))[1:]


def test_every_requirement_stands_there_once_and_in_order() -> None:
    assert len(WANTED) == 253
    assert [row[0] for row in rows()] == WANTED
    assert Counter(row[1] for row in rows()) == {"1": 70, "2": 183}


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_a_state_comes_with_what_it_stands_on(row: list[str]) -> None:
    assert len(row) == 7
    _, _, subject, state, where, tests, missing = row
    assert 1 <= len(subject.split()) <= 8
    assert state in STATES
    assert where if state in ("met", "partly") else missing
    assert tests or missing or where
    if state == "partly":
        assert missing


def test_every_path_is_there() -> None:
    named = re.findall(r"`((?:[a-z_]+/)+[^` ]*)`", TABLE.read_text())
    assert len(named) > 300
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_what_tests_is_a_test_or_its_table() -> None:
    named = {path for row in rows() for path in re.findall(r"`([^`]+)`", row[5])}
    assert [path for path in sorted(named) if not path.startswith("tests/")] == []


def test_the_summary_counts_the_rows() -> None:
    counted = Counter(row[3] for row in rows())

    assert f"| all 253 | {' | '.join(str(counted[state]) for state in STATES)} |\n" in SUMMARY.read_text()


def test_the_summary_says_what_is_not_met() -> None:
    missing = [
        f"- {number.removeprefix('v5.0.0-')} {subject} ({state}): {why}\n"
        for number, _, subject, state, _, _, why in rows() if state == "not met"
    ]  # fmt: skip

    assert "".join(missing) in SUMMARY.read_text()
