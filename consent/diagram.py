"""The two lifecycles as diagrams, drawn from the tables that the code and the database go by."""

import re
from collections.abc import Mapping
from typing import Any

from consent.event_types import WEBHOOKS
from consent.states import GRANT_MOVES, REQUEST_MOVES, GrantStatus, RequestStatus

_WHO: dict[tuple[str, str], str] = {
    (RequestStatus.PENDING, RequestStatus.APPROVED): "the person approves",
    (RequestStatus.PENDING, RequestStatus.DENIED): "the person denies",
    (
        RequestStatus.PENDING,
        RequestStatus.CANCELLED,
    ): "the app ends it, the person blocks the app, or staff change what the person is shown",
    (RequestStatus.PENDING, RequestStatus.EXPIRED): "the deadline passes",
    (GrantStatus.ACTIVE, GrantStatus.PAUSED): "the person pauses",
    (GrantStatus.PAUSED, GrantStatus.ACTIVE): "the person resumes",
    (GrantStatus.ACTIVE, GrantStatus.EXHAUSTED): "the last allowed read",
}
_ENDS: dict[str, str] = {
    GrantStatus.REVOKED: "the person stops sharing",
    GrantStatus.RELEASED: "the app ends it",
    GrantStatus.TERMINATED: "staff end it",
    GrantStatus.EXPIRED: "its time is over",
    GrantStatus.SUPERSEDED: "a newer approval of the same app and scope",
}
_BEGIN = "<!-- webhook types, made by `manage.py draw_lifecycles` -->\n"
_END = "<!-- end of webhook types -->"


def _lines(moves: Mapping[Any, frozenset[Any]], start: str) -> list[str]:
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {start}"]
    for old, news in moves.items():
        lines.extend(f"    {old} --> {new}: {_WHO.get((old, new)) or _ENDS[new]}" for new in sorted(news))
        if not news:
            lines.append(f"    {old} --> [*]")
    return [*lines, "```"]


def page() -> str:
    """docs/lifecycle.md, whole; a test compares."""
    return "\n".join(
        [
            "# The two lifecycles",
            "",
            "<!-- made by `manage.py draw_lifecycles` from `consent/states.py`, the table that code and database "
            "triggers go by -->",
            "For developers of apps: the states of a request and of a grant, and what leads from one to another.",
            "Nothing leaves an end state. Ending a grant deletes its ciphertext in the same transaction. What ends,",
            "pauses or refuses takes place even while the audit cannot be written; approving, resuming and reading do",
            "not ([`docs/adr/0016-protection-before-the-audit.md`](adr/0016-protection-before-the-audit.md) in the",
            "source code says why).",
            "",
            "## A request",
            "",
            *_lines(REQUEST_MOVES, RequestStatus.PENDING),
            "",
            "## A grant",
            "",
            *_lines(GRANT_MOVES, GrantStatus.ACTIVE),
            "",
        ]
    )


def with_webhook_types(handbook: str) -> str:
    """The handbook with the table of webhook types as `WEBHOOKS` has it now."""
    return re.sub(f"(?<={re.escape(_BEGIN)}).*?(?={re.escape(_END)})", lambda _: _table(), handbook, flags=re.DOTALL)


def _table() -> str:
    rows = [f"| `{webhook.type}` | {webhook.when} |\n" for webhook in WEBHOOKS]
    return "".join(["\n| type | when |\n|---|---|\n", *rows, "\n"])
