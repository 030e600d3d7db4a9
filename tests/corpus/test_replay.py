"""What is answered now, held against the recording; and whether every documented address is in it."""

import difflib
import re
from typing import Any

import pytest

from tests.access.table import ROWS
from tests.config.every_address import LISTED
from tests.corpus.recordings import AREAS, played, recorded, text_of
from tests.corpus.stage import name_of, with_open_names

_ADMIN = "admin/"
_MOST_TOLD = 5  # differences: what broke one answer mostly broke many


@pytest.fixture(scope="module")
def exchanges() -> list[dict[str, Any]]:
    """All that is recorded."""
    return [exchange for area in AREAS for exchange in recorded(area)]


def _differences(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[str]:
    """A unified difference for each exchange that is not as it was, or is there in one of both only."""
    known = {name_of(exchange): text_of(exchange) for exchange in before}
    played_now = {name_of(exchange): text_of(exchange) for exchange in now}
    names = [*known, *(name for name in played_now if name not in known)]
    return [
        f"{name}\n" + "\n".join(difflib.unified_diff(was.splitlines(), is_now.splitlines(), "recorded", "now", n=2))
        for name in names
        if (was := known.get(name, "")) != (is_now := played_now.get(name, ""))
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("area", AREAS)
def test_every_address_answers_as_recorded(area: str) -> None:
    differing = _differences(recorded(area), played(area))

    if differing:
        pytest.fail(f"{len(differing)} answers differ.\n\n" + "\n\n".join(differing[:_MOST_TOLD]), pytrace=False)


def test_every_documented_address_is_recorded(exchanges: list[dict[str, Any]]) -> None:
    found = {(exchange["request"].partition(" ")[0], exchange["address"]) for exchange in exchanges}
    in_the_table = {(row.method, with_open_names(row.route)) for row in ROWS if not row.route.startswith(_ADMIN)}
    listed = {route for route in LISTED if not route.startswith(_ADMIN)}

    assert in_the_table - found == set()
    assert len({route for _, route in in_the_table}) == len(listed)


def test_every_answer_that_the_openapi_document_promises_is_recorded(exchanges: list[dict[str, Any]]) -> None:
    """But for what no call can bring about, and for what the address refuses to other methods than the operation's."""
    document = next(exchange for exchange in exchanges if exchange["what"] == "the document")["json"]
    promised = {
        (method.upper(), path.strip("/"), answer)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        for status, response in operation["responses"].items()
        for answer in _answers(status, response)
    }
    found = {
        (method, exchange["address"], answer)
        for exchange in exchanges
        for answer in (str(exchange["status"]), f"{exchange['status']} {_code(exchange)}")
        for method in (exchange["request"].partition(" ")[0], "any" if answer.startswith("405") else "")
    }
    missing = {
        (method, path, answer)
        for method, path, answer in promised
        if answer not in _NOT_BY_A_CALL
        and ("any" if answer.startswith("405") else method, re.sub(r"{\w+}", "{}", path), answer) not in found
    }

    assert missing == _NEVER


# the database is away, or the registry in it; and what every address shares with an address that is not there
_NOT_BY_A_CALL = {"503 temporarily_unavailable", "500 scope_registry_unavailable", "404 not_found"}
_NEVER: set[tuple[str, str, str]] = set()


def _answers(status: str, response: dict[str, Any]) -> list[str]:
    examples = response.get("content", {}).get("application/problem+json", {}).get("examples", {})
    codes = [example["value"]["code"] for example in examples.values()]
    return [f"{status} {code}" for code in codes] or [status]


def _code(exchange: dict[str, Any]) -> str:
    body = exchange.get("json")
    return str(body.get("code", "")) if isinstance(body, dict) else ""


def test_every_tool_is_recorded_answering_and_refusing_on_both_revisions(exchanges: list[dict[str, Any]]) -> None:
    calls: dict[tuple[str, str], set[bool]] = {}
    listed: dict[str, set[str]] = {}
    for exchange in exchanges:
        revision = exchange.get("sent_headers", {}).get("MCP-Protocol-Version", "")
        result = exchange["json"].get("result", {}) if exchange["address"] == "mcp" and "json" in exchange else {}
        if not revision:
            continue  # the area of callers lists the tools without naming one
        if "tools" in result:
            listed.setdefault(revision, set()).update(tool["name"] for tool in result["tools"])
        if "content" in result:
            tool = exchange["sent"]["json"]["params"]["name"]
            calls.setdefault((revision, tool), set()).add(result["isError"])

    assert {revision for revision, _ in calls} == set(listed)
    assert len(listed) == 2
    assert {(revision, tool): {True, False} for revision in listed for tool in listed[revision]} == calls
