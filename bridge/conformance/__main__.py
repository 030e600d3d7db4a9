"""`python -m conformance COMMAND …`: play every case against a client, say how each ended, and exit with 0 or 1."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

from conformance.cases import Case, all_cases

_SHOWN = 160  # characters of a reply
_KINDS = ("answer", "refused", "unsupported")


def main(arguments: list[str] | None = None) -> int:
    """The exit code: 0 where the client passed each case that it supports, 1 where not, 2 where none was played."""
    parser = argparse.ArgumentParser(prog="python -m conformance", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="only the cases in whose name this stands")
    parser.add_argument("--seconds", type=float, default=120, help="how long the client may take for all of them")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the client's adapter, with its arguments")
    options = parser.parse_args(arguments)
    cases = [case for case in all_cases() if options.only in case.name]
    if not options.command or not cases:
        parser.error("name the command of an adapter" if cases else f"no case is called {options.only!r}")
    try:
        replies, code = play(options.command, cases, options.seconds)
    except (OSError, subprocess.TimeoutExpired) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    passed = report(cases, replies)
    if code:
        sys.stdout.write(f"the client ended with exit code {code}\n")
    return 0 if passed and code == 0 else 1


def play(command: list[str], cases: Iterable[Case], seconds: float) -> tuple[list[str], int]:
    """The lines with which a client replied, in the order of the cases, and its exit code.

    Errors: OSError where it cannot be started, subprocess.TimeoutExpired where it takes longer.
    """
    calls = ({"case": case.name, "operation": case.operation, "input": case.given} for case in cases)
    lines = "".join(f"{json.dumps(call)}\n" for call in calls)
    done = subprocess.run(  # noqa: S603  # the command line names it
        command, input=lines, stdout=subprocess.PIPE, encoding="utf-8", errors="replace", timeout=seconds, check=False
    )
    return done.stdout.split("\n")[:-1], done.returncode


def report(cases: list[Case], replies: list[str]) -> bool:
    """Print a line for each reply and the counts; whether each case has one, some passed and none failed."""
    counts = dict.fromkeys(("ok", "FAIL", "skip"), 0)
    for case, reply in zip(cases, replies, strict=False):
        outcome, why = judged(case, reply)
        counts[outcome] += 1
        sys.stdout.write(f"{outcome:5}{case.operation:20} {case.name}{why and f': {why}'}\n")
    sys.stdout.write(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} not supported\n")
    if len(replies) != len(cases):
        sys.stdout.write(f"the client replied {len(replies)} times to {len(cases)} cases\n")
    return counts["ok"] > 0 and counts["FAIL"] == 0 and len(replies) == len(cases)


def judged(case: Case, line: str) -> tuple[str, str]:
    """"ok", "skip" or "FAIL" with the reason, for one line of a client."""  # fmt: skip
    try:
        reply = json.loads(line)
    except ValueError:
        reply = None
    if not isinstance(reply, dict) or len(reply.keys() & set(_KINDS)) != 1:
        return "FAIL", f"no reply: {_short(line)}"
    if reply.get("unsupported"):
        return "skip", ""
    if "refused" in case.expected:
        fits = "refused" in reply and all(_fits(reply, case.expected, name) for name in ("refused", "member"))
    else:
        fits = "answer" in reply and same(reply["answer"], case.expected["answer"])
    return ("ok", "") if fits else ("FAIL", f"{_short(json.dumps(reply))}, not {_short(json.dumps(case.expected))}")


def _fits(reply: dict[str, Any], expected: dict[str, Any], name: str) -> bool:
    """Whether a part of a refusal is the expected one; a client that cannot tell says true, or leaves it out."""
    if name not in reply or name not in expected:
        return True
    return reply[name] is True or expected[name] is True or bool(reply[name] == expected[name])


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: true is not 1, but 1.0 is, since not every language can tell."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


if __name__ == "__main__":
    sys.exit(main())
