"""The bodies of forty answers, whole: a member that is gone, renamed, moved or of another kind is a difference."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.answers.playing import KEPT, played

FILE = Path(__file__).parent / "answers.json"


@pytest.mark.django_db
def test_programs_are_answered_as_recorded() -> None:
    """RECORD_ANSWERS=1 records anew, which is right where an answer changes on purpose: the difference is reviewed."""
    now = played()
    if os.environ.get("RECORD_ANSWERS"):
        FILE.write_text(json.dumps(now, ensure_ascii=False, indent=1) + "\n")

    recorded = json.loads(FILE.read_text())
    assert list(recorded) == list(now)
    assert len(recorded) == len(KEPT) == 40
    for name, answer in recorded.items():
        assert _text(now[name]) == _text(answer), name


def _text(answer: Any) -> str:
    """The order of members counts, too, but for a key's: PostgreSQL keeps those of JSON in an order of its own."""
    return json.dumps(json.loads(json.dumps(answer), object_hook=_ordered), indent=1)


def _ordered(members: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted(members.items())) if "kty" in members else members
