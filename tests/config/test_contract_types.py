"""`./run types` and its check, without the generators: what is written, what is compared, what is told."""

import json
from typing import Any

import pytest

from consent.api.openapi import document
from deploy.local import contract, node

MADE = "made by a generator\n"


@pytest.fixture
def generators(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What was called, none of it really."""
    called: list[list[str]] = []

    def answer(command: list[Any], **_: Any) -> str:
        called.append([str(word) for word in command])
        return json.dumps(document()) if "print_openapi" in called[-1] else MADE

    monkeypatch.setattr(contract, "_output", answer)
    monkeypatch.setattr(node, "is_there", lambda: True)
    monkeypatch.setattr(node, "install", lambda folder: folder / "node_modules")
    return called


def test_what_needs_no_generator_is_what_is_checked_in(generators: list[list[str]]) -> None:
    made = contract.made({})

    assert set(made) == {contract.ANSWERS, contract.TERMS, contract.TYPES, contract.SCHEMAS, contract.DIGESTED}
    assert made[contract.SCHEMAS] == contract.SCHEMAS.read_text()
    assert made[contract.DIGESTED] == contract.DIGESTED.read_text()


def test_without_node_its_types_alone_are_left_out(
    generators: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node, "is_there", lambda: False)

    assert set(contract.made({})) == {contract.ANSWERS, contract.TERMS, contract.SCHEMAS, contract.DIGESTED}


def test_what_differs_is_named_and_nothing_else(generators: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "is_there", lambda: False)

    complaints = contract.complaints({})

    assert complaints.splitlines() == [
        "bridge/consent_bridge/answers.py is not what the contract makes it; `./run types` does.",
        "bridge/consent_bridge/terms.py is not what the contract makes it; `./run types` does.",
    ]


def test_a_generator_that_fails_is_a_complaint(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(command: list[Any], **_: Any) -> str:
        raise contract.Failed("no such document")

    monkeypatch.setattr(contract, "_output", refuse)

    assert contract.complaints({}) == "no such document"
