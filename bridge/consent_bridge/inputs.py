"""What a command is given to open or to verify: a file, or standard input; bounded, and ASCII as all of JOSE is."""

from __future__ import annotations

import sys
from pathlib import Path

from consent_bridge.errors import Refused
from consent_bridge.jwe import MAX_JWE_CHARS

MAX_SECRET_BYTES = 8192
# Sealed text may come with spaces and line ends around it, never more than the text itself.
_MAX_INPUT_BYTES = MAX_JWE_CHARS + MAX_SECRET_BYTES


def text_of(path: Path | None) -> str:
    """The text in a file, or on standard input where none is named or the name is a dash."""
    return text_in(octets_of(path))


def octets_of(path: Path | None, most: int = _MAX_INPUT_BYTES) -> bytes:
    """The same before it is read as text: never more than one byte beyond `most`, so that the reader can refuse it."""
    return standard_input(most) if path is None or path == Path("-") else _file(path, most)


def text_in(data: bytes) -> str:
    """The same of bytes that were read already."""
    if len(data) > _MAX_INPUT_BYTES:
        raise Refused(f"the sealed text is longer than {MAX_JWE_CHARS} characters")
    try:
        return data.decode("ascii").strip()
    except UnicodeDecodeError as error:
        raise Refused("the sealed text is no compact JWE: it holds bytes that are not ASCII") from error


def standard_input(most: int = _MAX_INPUT_BYTES) -> bytes:
    """All of it, up to a little more than anything sealed can be."""
    return sys.stdin.buffer.read(most + 1)


def _file(path: Path, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(most + 1)
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}") from error
