"""What was recorded of the agents' addresses is what the OpenAPI document says: statuses, media types, shapes."""

import re
from collections import Counter
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from consent.api.openapi import document
from tests.corpus.recordings import recorded

AREAS = ("agents", "financial", "messages", "proxy")
METHODS = ("get", "post", "delete")
NUMBERS = ("durationMs", "response_time_ms")  # which a name stands for, in the recordings


def templates() -> list[tuple[re.Pattern[str], str]]:
    """The document's addresses as patterns; those without a part to fill in come first."""
    paths = sorted((path for path in document()["paths"] if path.startswith("/api/a2a/")), key=lambda path: "{" in path)
    return [(re.compile(re.sub(r"{\w+}", "[^/]+", path) + r"\Z"), path) for path in paths]


def operation_of(exchange: dict[str, Any]) -> dict[str, Any] | None:
    method, _, target = exchange["request"].partition(" ")
    address = target.partition("?")[0]
    path = next((path for pattern, path in templates() if pattern.match(address)), None)
    if path is None or method.lower() not in METHODS:
        return None
    found: dict[str, Any] | None = document()["paths"][path].get(method.lower())
    return found


def as_sent(value: Any, name: str = "") -> Any:
    """A recorded body with a number where a name stands for one."""
    if isinstance(value, dict):
        return {key: as_sent(part, key) for key, part in value.items()}
    if isinstance(value, list):
        return [as_sent(part, name) for part in value]
    return 1 if name in NUMBERS and isinstance(value, str) else value


@pytest.mark.parametrize("area", AREAS)
def test_recorded_answers_are_those_of_the_document(area: str) -> None:
    seen: Counter[str] = Counter()
    for exchange in recorded(area):
        operation = operation_of(exchange)
        if operation is None or exchange["status"] == 405:
            continue
        where = f"{exchange['request']} ({exchange['what']}): {exchange['status']}"
        response = operation["responses"].get(str(exchange["status"]))
        assert response, f"{where} is not in the document"
        if "json" in exchange:
            kinds = [line for line in exchange["headers"] if line.startswith("Content-Type: ")]
            content = response["content"][kinds[0].removeprefix("Content-Type: ")]
            validator = Draft202012Validator({**content["schema"], "components": document()["components"]})
            assert [error.message for error in validator.iter_errors(as_sent(exchange["json"]))] == [], where
        seen[operation["operationId"]] += 1

    assert sum(seen.values()) > 40
