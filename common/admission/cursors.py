"""Where a page of a list begins, as programs are told it: the key of the last row before, in a form of our own."""

import base64
import binascii

from common.problems import FieldError, InvalidRequest


def cursor_of(position: int) -> str:
    """The cursor of the rows beyond the one with this key."""
    return base64.urlsafe_b64encode(f"r{position}".encode()).decode().rstrip("=")


def position_of(cursor: str) -> int:
    """The key that `cursor` stands for. Raises `InvalidRequest` where it is not one of ours."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        position = int(text.removeprefix("r"))
    except (binascii.Error, ValueError):
        position = -1
    if not 0 < position < 2**63 or cursor_of(position) != cursor:
        error: FieldError = {"field": "cursor", "code": "unknown", "message": "use the next_cursor of an answer"}
        raise InvalidRequest("The cursor is not one of ours.", errors=[error])
    return position
