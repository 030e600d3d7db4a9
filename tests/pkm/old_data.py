"""What a browser tells while it moves old data."""

from typing import Any


def progress(**change: Any) -> dict[str, Any]:
    """Busy with one domain, one of its segments written."""
    body = {
        "status": "running",
        "at": {"domain": "lifestyle", "segments": {"food": 1}},
        "counts": {"written": 1, "aside": 0},
        "last_error": "",
    }
    return body | change


def finish(**change: Any) -> dict[str, Any]:
    """The old row of `LegacyBlobFactory` is in the first revision of one segment."""
    return {"updated_at": "2024-05-17T09:30:00Z", "segments": {"food": 1}, "discard": False, "kept": 0} | change
