"""`open-archive`: a sealed archive of a vault, opened on this machine without a network."""

from __future__ import annotations

import getpass
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from consent_bridge.archives import MAX_ARCHIVE_BYTES, Archive, open_archive, read_archive
from consent_bridge.errors import KeyRefused, Refused
from consent_bridge.inputs import MAX_SECRET_BYTES, octets_of
from consent_bridge.state import write_private_file

_PROMPT = "Passphrase or recovery code: "


def open_archive_command(options: Namespace) -> dict[str, Any]:
    """Open it all or nothing; with --out into a file that only this user can read."""
    if options.archive == Path("-") and options.passphrase_file in (None, Path("-")):
        raise Refused("the archive comes from standard input, so name the secret's file with --passphrase-file")
    archive = read_archive(octets_of(options.archive, MAX_ARCHIVE_BYTES))
    opened = open_archive(archive, _secret(options.passphrase_file))
    if options.out is None:
        return opened
    write_private_file(options.out, opened, force=options.force)
    return _summary(archive, options.out)


def _summary(archive: Archive, out: Path) -> dict[str, Any]:
    return {"user_id": archive.user_id, "segments": len(archive.segments), "written_to": str(out)}


def _secret(path: Path | None) -> str:
    """Asked for without an echo where somebody sits there; else the first line of the file or of standard input."""
    if path is None and sys.stdin.isatty():
        try:
            return getpass.getpass(_PROMPT)
        except EOFError as error:
            raise KeyRefused("no passphrase or recovery code was given") from error
    first = octets_of(path, MAX_SECRET_BYTES).partition(b"\n")[0].removesuffix(b"\r")
    if len(first) > MAX_SECRET_BYTES:
        raise KeyRefused(f"the passphrase or recovery code is longer than {MAX_SECRET_BYTES} bytes")
    try:
        return first.decode("utf-8")
    except UnicodeDecodeError as error:
        raise KeyRefused("the passphrase or recovery code is not UTF-8") from error
