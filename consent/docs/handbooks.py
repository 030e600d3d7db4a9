"""What a handbook lists of the code's own tables: made from them, between two marks in its text."""

import re

from consent.event_types import EventType

_BEGIN = "<!-- webhook types, made by `manage.py draw_lifecycles` -->\n"
_END = "<!-- end of webhook types -->"


def with_webhook_types(handbook: str) -> str:
    """The handbook with the table of webhook types as `EventType` has it now."""
    return re.sub(f"(?<={re.escape(_BEGIN)}).*?(?={re.escape(_END)})", lambda _: _table(), handbook, flags=re.DOTALL)


def _table() -> str:
    rows = [f"| `{event.webhook.type}` | {event.webhook.when} |\n" for event in EventType if event.webhook]
    return "".join(["\n| type | when |\n|---|---|\n", *rows, "\n"])
