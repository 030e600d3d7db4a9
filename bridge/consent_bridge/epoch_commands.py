"""`consent-bridge accept-epoch`: take, by somebody's decision, the log that began anew after a restore."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser, Namespace
from typing import Any

from consent_bridge import calls, logs, verifying
from consent_bridge.commands import Undone
from consent_bridge.logs import LogEpochChanged, Memory

ABOUT = (
    "go on with a log that began anew after a restore",
    "Shows the old log as this machine saw it last and the new one, and asks before it takes the new one; where nobody "
    "sits at a terminal, --yes does. Ask the operator first what was restored: what came after the backup is lost, and "
    "nothing shows from here that the new log has what was seen of the old one.",
)
_LOST = "what the old log got after the backup, and the proof that the new one has all that was seen of the old one"


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="take it without asking")
    parser.add_argument("--base-url", help="the service's address, ending in /api/v1 (CONSENT_BASE_URL)")
    verifying.add_log_options(parser)


def accept_epoch_command(options: Namespace) -> dict[str, Any]:
    """Both logs, and whether the new one was taken; Undone where it was not. {"accepted": False} where none began."""
    memory, keeper = verifying.log_of(options)
    with verifying.service_transport(options) as call:
        try:
            call(calls.follow_log(memory))
        except LogEpochChanged as changed:
            then = memory.accepting(changed.newest)
            change = _change(memory, then, after=call(calls.begins_after(then, changed.last)))
            if not (options.yes or _is_confirmed(change, changed.newest.origin)):
                raise Undone("nothing was accepted: look at it, and say so or give --yes", change) from changed
            accepted = call(calls.accept_epoch(memory, changed.newest.origin))
            keeper.keep(verifying.service_of(options), accepted)
            return {**change, "accepted": True}
    return {"accepted": False, "why": "the log goes on as it was seen"}


def _change(before: Memory, then: Memory, *, after: bool) -> dict[str, Any]:
    """What there is to decide about."""
    old, new = (
        logs.as_json(memory.checkpoint, memory.is_fresh(time.time())) for memory in (before, then) if memory.checkpoint
    )
    return {"old": old, "new": new, "new_begins_after_last_seen": after, "lost": _LOST, "accepted": False}


def _is_confirmed(change: dict[str, Any], origin: str) -> bool:
    """Ask whoever sits at a terminal for the new name, which nobody types by accident."""
    if not sys.stdin.isatty():
        return False
    sys.stderr.write(f"{json.dumps(change, indent=2)}\nTo take it, type the new log's name, {origin}: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip() == origin
