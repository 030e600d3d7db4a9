"""`consent-bridge verify-site`: whether a site runs the code that was released, and nothing else."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import requests

from consent_bridge import __version__, releases, sites
from consent_bridge.commands import Undone
from consent_bridge.encoding import parse_object
from consent_bridge.errors import KeyRefused, Refused
from consent_bridge.notes import VerifierKey
from consent_bridge.releases import RELEASE_PATH, Manifest
from consent_bridge.state import read_small_file, state_directory, write_private_file
from consent_bridge.transport import Transport, anonymous, checked_base_url
from consent_bridge.verifying import entry_in_log

ABOUT = (
    "compare all code that a site runs with its release",
    "Fetches pages as a browser would, signed out and, with a session given, signed in, and every script and style "
    "that they load or could import. An altered byte, an inline script or a loosened policy is a finding, and exit 1. "
    "It shows what was served to this look: another browser may have got something else.",
)
_PINS = "release-keys.json"


def add_options(parser: ArgumentParser) -> None:
    """Those of `verify-site`; those of the log come from where the other commands have them."""
    parser.add_argument("url", metavar="URL", help="the site's address, such as https://consent.example")
    text = "the release key that the releaser published, or a file that holds it; repeatable. Left out: the one pinned"
    parser.add_argument("--release-key", action="append", default=[], metavar="KEY", help=text)
    text = "a signed manifest got elsewhere, in place of the one that the site shows"
    parser.add_argument("--manifest", type=Path, metavar="FILE", help=text)
    text = "file with the cookies of a session, NAME=VALUE one a line (or CONSENT_SESSION): look signed in, too"
    parser.add_argument("--session-file", type=Path, metavar="FILE", help=text)
    text = "how many pages a look goes through; default: %(default)s"
    parser.add_argument("--pages", type=int, default=sites.MOST_PAGES, metavar="N", help=text)


def verify_site_command(options: Namespace) -> dict[str, Any]:
    """What was compared; Undone, with every finding, where something is not the release's."""
    origin = checked_base_url(options.url)
    release = _release(origin)
    note = read_small_file(options.manifest, "the manifest").decode() if options.manifest else _note(release)
    keys, is_new = _keys(options, origin, note)
    manifest = releases.read_manifest(note, keys)
    if releases.is_older(__version__, manifest.minimum_client):
        raise Refused(f"this release asks for consent-bridge {manifest.minimum_client} or newer")
    inspections = {"signed out": sites.Site(origin).look(manifest, options.pages)}
    if cookies := _cookies(options):
        inspections["signed in"] = sites.Site(origin, cookies).look(manifest, options.pages)
    findings = [
        {"as": name, "where": finding.where, "what": finding.what}
        for name, look in inspections.items()
        for finding in look.findings
    ]
    result = {
        "site": origin,
        "release": {"version": manifest.version, "commit": manifest.commit, "manifest_sha256": manifest.sha256},
        "release_keys": [str(key) for key in keys],
        "release_keys_are": "new: this is the first look at this site" if is_new else "known",
        "log": _in_log(options, origin, release, manifest),
        "looks": {name: {"pages": len(look.pages), "files": len(look.files)} for name, look in inspections.items()},
        "findings": findings,
    }
    if findings:
        raise Undone(f"the site runs something else than its release: {len(findings)} findings", result)
    return result


def _release(origin: str) -> dict[str, Any]:
    with requests.Session() as session:
        session.auth = anonymous
        return Transport(origin, session).send("GET", RELEASE_PATH, repeatable=True).json()


def _note(release: dict[str, Any]) -> str:
    note = release.get("note")
    if not isinstance(note, str):
        raise Refused("the site tells of no release", member="note")
    return note


def _keys(options: Namespace, origin: str, note: str) -> tuple[list[VerifierKey], bool]:
    """Who may sign: those of the command line, else those of the first look, which are pinned.

    The site is never taken at its word: the first look at it needs a key.
    """
    path = state_directory() / _PINS
    pinned = parse_object(read_small_file(path, "the pins"), f"the pins {path}") if path.exists() else {}
    if options.release_key:
        keys = [_key(text) for text in options.release_key]
        is_new = origin not in pinned
        releases.read_manifest(note, keys)
        write_private_file(path, {**pinned, origin: [str(key) for key in keys]}, force=True)
        return keys, is_new
    if origin not in pinned:
        raise KeyRefused("give --release-key: the key that the releaser published, such as in the source's SECURITY.md")
    return [VerifierKey.parse(text) for text in pinned[origin]], False


def _key(text: str) -> VerifierKey:
    path = Path(text)
    return VerifierKey.parse(read_small_file(path, "the key").decode().strip() if path.is_file() else text)


def _cookies(options: Namespace) -> dict[str, str]:
    given = os.environ.get("CONSENT_SESSION", "")
    if options.session_file is not None:
        given = read_small_file(options.session_file, "the session").decode()
    found = dict(line.strip().partition("=")[::2] for line in given.splitlines() if line.strip())
    if not all(found.values()):
        raise Refused("a session is given as NAME=VALUE, one cookie a line")
    return found


def _in_log(options: Namespace, origin: str, release: dict[str, Any], manifest: Manifest) -> dict[str, Any]:
    """Where the public log has this release; what is not there yet is said, and no finding."""
    entry = releases.entered(release, manifest)
    if entry is None or not isinstance(release.get("proof"), str):
        return {"entered": entry is not None, "proved": False}
    options.base_url = origin
    return {"entered": True, "proved": True, **entry_in_log(options, entry, release["proof"])}
