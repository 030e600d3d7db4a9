"""The bodies of forty answers, whole: a member that is gone, renamed, moved or of another kind is a difference."""

import json
import os
from pathlib import Path

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
        # texts, since the order of members counts, too
        assert json.dumps(now[name], indent=1) == json.dumps(answer, indent=1), name
