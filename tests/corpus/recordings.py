"""The areas of the corpus, playing them, and their files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.corpus.plays import (
    agents,
    asking,
    callers,
    decisions,
    developers,
    financial,
    management,
    messages,
    pages,
    programs,
    proxy,
    public,
    sandbox,
    tools,
    vault,
)
from tests.corpus.stage import Stage, stage

FOLDER = Path(__file__).parent / "recorded"
AREAS: dict[str, Callable[[Stage], None]] = {
    "developers": developers.play,
    "asking": asking.play,
    "tools": tools.play,
    "public": public.play,
    "vault": vault.play,
    "decisions": decisions.play,
    "agents": agents.play,
    "messages": messages.play,
    "financial": financial.play,
    "proxy": proxy.play,
    "programs": programs.play,
    "sandbox": sandbox.play,
    "management": management.play,
    "callers": callers.play,
    "pages": pages.play,
}


def played(area: str) -> list[dict[str, Any]]:
    """What the addresses of this area answer now."""
    with stage() as here:
        AREAS[area](here)
    return here.exchanges


def text_of(exchange: dict[str, Any]) -> str:
    """As it stands in the file: the order of members counts, since it is the order of bytes."""
    return json.dumps(exchange, ensure_ascii=False, indent=1)


def file_of(area: str) -> Path:
    return FOLDER / f"{area}.json"


def keep(area: str, exchanges: list[dict[str, Any]]) -> None:
    file_of(area).write_text("[\n" + ",\n".join(map(text_of, exchanges)) + "\n]\n")


def recorded(area: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(file_of(area).read_text())
    return found
