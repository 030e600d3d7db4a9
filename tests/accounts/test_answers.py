"""What an answer in JSON can hold."""

import json
from datetime import UTC, datetime

import pytest

from common.json_bodies import json_answer


def test_numbers_of_any_size_are_written() -> None:
    answer = json_answer({"small": 1, "large": 2**70, "text": "Zoë"})

    assert json.loads(answer.content) == {"small": 1, "large": 2**70, "text": "Zoë"}


def test_a_time_is_written_by_whoever_answers_it() -> None:
    with pytest.raises(TypeError, match="datetime"):
        json_answer({"at": datetime.now(UTC)})
