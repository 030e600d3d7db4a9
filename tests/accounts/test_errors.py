"""What a body that does not fit is refused with."""

import pytest
from pydantic import BaseModel, ConfigDict, field_validator

from accounts.errors import InvalidRequest, checked


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")
    words: str

    @field_validator("words")
    @classmethod
    def _not_blank(cls, words: str) -> str:
        if not words.strip():
            raise ValueError("must not be blank")
        return words


def test_a_validators_words_come_without_the_librarys() -> None:
    with pytest.raises(InvalidRequest) as refused:
        checked(Body, {"words": " "})

    assert refused.value.errors == [{"field": "words", "code": "value_error", "message": "must not be blank"}]


def test_a_list_of_misfits_stays_short() -> None:
    with pytest.raises(InvalidRequest) as refused:
        checked(Body, {"words": "a", **{f"{at}{'x' * 300}": 1 for at in range(30)}})

    assert len(refused.value.errors) == 20
    assert {len(entry["field"]) for entry in refused.value.errors} == {200}
