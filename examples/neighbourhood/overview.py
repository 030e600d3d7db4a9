"""One page that lists everything `./run` started, what each part is for, and whether it answers now."""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import urllib3

from examples.neighbourhood.html import STYLE_PATH, page, style, text
from examples.neighbourhood.serving import NOT_FOUND, Request, Response, json_response

_WITHIN = 3.0  # seconds
_http = urllib3.PoolManager(maxsize=16)
Check = Callable[[], str]


class Silent(Exception):
    """Why a part does not answer."""


@dataclass(frozen=True)
class Part:
    """`check` returns what the part says of itself, or raises `Silent`; `link` is what a person can open, or ""."""

    name: str
    purpose: str
    link: str
    check: Check


@dataclass(frozen=True)
class Answer:
    """How a part answered just now."""

    part: Part
    answers: bool
    detail: str
    milliseconds: int


class Overview:
    """The program. `GET /` is the page, `GET /status` the same as JSON; each asks every part at that moment."""

    def __init__(self, parts: list[Part]) -> None:
        self._parts = parts

    def __call__(self, request: Request) -> Response:
        if request.method != "GET":
            return NOT_FOUND
        match request.path:
            case "/":
                return self._page()
            case "/status":
                return json_response(200, {"parts": [_body(answer) for answer in self._answers()]})
            case path if path == STYLE_PATH:
                return style()
        return NOT_FOUND

    def _answers(self) -> list[Answer]:
        with ThreadPoolExecutor(len(self._parts)) as pool:
            return list(pool.map(_answer, self._parts))

    def _page(self) -> Response:
        answers = self._answers()
        silent = sum(not answer.answers for answer in answers)
        summary = f"{silent} of {len(answers)} parts do not answer." if silent else f"All {len(answers)} parts answer."
        now = datetime.now(UTC).strftime("%H:%M:%S")
        body = (
            f'<p>{summary} Asked at {now} UTC; <a href="/">ask again</a>. Banks, shops, purchases and people here are '
            f"invented.</p><ul>{''.join(_shown(answer) for answer in answers)}</ul>"
        )
        return page("What runs here", body)


def answers_get(address: str, *, ready: bool = False) -> Check:
    """Whether this address answers GET; with `ready`, whether it says 200 and nothing else."""

    def check() -> str:
        status = _status("GET", address, None)
        if status >= 500 or (ready and status != 200):
            raise Silent(f"answered {status}")
        return "answers"

    return check


def answers_calls(address: str) -> Check:
    """Whether an agent at this address answers JSON-RPC: an empty call, which it refuses, and which says nothing."""

    def check() -> str:
        status = _status("POST", address, b'{"jsonrpc": "2.0", "id": "is-there", "method": "none", "params": {}}')
        if status >= 500:
            raise Silent(f"answered {status}")
        return "answers"

    return check


def process_lives(number: Path) -> Check:
    """Whether the process whose number is in this file runs: a worker has no address."""

    def check() -> str:
        try:
            os.kill(int(number.read_text()), 0)
        except (OSError, ValueError):
            raise Silent("does not run") from None
        return "runs"

    return check


def _status(method: str, address: str, body: bytes | None) -> int:
    headers = {"Content-Type": "application/json"} if body else {}
    try:
        answer = _http.request(
            method, address, body=body, headers=headers, timeout=_WITHIN, retries=False, redirect=False
        )
    except urllib3.exceptions.HTTPError as error:
        raise Silent(type(error).__name__) from None
    return int(answer.status)


def _answer(part: Part) -> Answer:
    began = time.perf_counter()
    try:
        detail, answers = part.check(), True
    except Silent as reason:
        detail, answers = str(reason), False
    return Answer(part, answers, detail, round((time.perf_counter() - began) * 1000))


def _body(answer: Answer) -> dict[str, Any]:
    return {
        "name": answer.part.name, "purpose": answer.part.purpose, "link": answer.part.link or None,
        "answers": answer.answers, "said": answer.detail, "milliseconds": answer.milliseconds,
    }  # fmt: skip


def _shown(answer: Answer) -> str:
    part = answer.part
    name = f'<a href="{text(part.link)}">{text(part.name)}</a>' if part.link else text(part.name)
    state, mark = ("good", "✓") if answer.answers else ("bad", "✗")
    shown = f"{mark} {answer.detail} ({answer.milliseconds} ms)"
    return (
        f"<li><p><strong>{name}</strong> <span class={state}>{text(shown)}</span></p><p>{text(part.purpose)}</p></li>"
    )
