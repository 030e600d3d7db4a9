"""What a body that does not fit is refused with."""

import pytest
from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from common.problems import InvalidRequest, checked


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


class Pair(BaseModel):
    one: str = ""
    other: str = ""

    @model_validator(mode="after")
    def _not_both(self) -> "Pair":
        if self.one and self.other:
            raise ValueError("give one or other, not both")
        return self


def test_what_is_wrong_with_the_whole_is_said_as_it_is() -> None:
    for body, message in (
        ({"one": "a", "other": "b"}, "Give one or other, not both."),
        ([], "The body must be a JSON object."),
    ):
        with pytest.raises(InvalidRequest, match=message) as refused:
            checked(Pair, body)
        assert [entry["field"] for entry in refused.value.errors] == [""]
        assert "Pair" not in refused.value.errors[0]["message"]
