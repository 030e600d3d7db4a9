"""`consent-bridge approve`: a person decides about a request without any page, by a program that was installed once."""

from __future__ import annotations

import getpass
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from consent_bridge.errors import KeyRefused, Refused
from consent_bridge.inputs import MAX_SECRET_BYTES, octets_of
from consent_bridge.owner import Owner
from consent_bridge.results import as_json
from consent_bridge.review import Review
from consent_bridge.state import SeenNotes, state_directory
from consent_bridge.vault_notes import AppMemory

ABOUT = (
    "show what a request would get from your vault, and approve it",
    "Signs in to your account and opens your vault on this machine; no page of the service is run. Without --digest it "
    "shows who asks, for what, and the exact values that would leave. With the digest that was shown it approves that "
    "very request. Asks for the account's password and the passphrase without showing them; where nobody sits at a "
    "terminal, they are the first two lines of standard input.",
)


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("request_id", metavar="REQUEST_ID")
    parser.add_argument("--site", required=True, metavar="URL", help="the consent app, such as https://consent.example")
    parser.add_argument("--login", required=True, metavar="EMAIL", help="your account's address")
    text = "file whose first two lines are the account's password and the passphrase; - for standard input"
    parser.add_argument("--secrets-file", type=Path, metavar="FILE", help=text)
    parser.add_argument("--digest", metavar="DIGEST", help="approve, if the request is still the one with this digest")
    text = "this path alone; repeatable; left out: all that is asked for and there"
    parser.add_argument("--attribute", action="append", metavar="PATH", help=text)
    text = "go on where the service shows an older state than was seen here: you know of a restore from a backup"
    parser.add_argument("--take-older-state", action="store_true", help=text)
    text = "share confidential data though nobody vouches for the app's key; restricted data is never shared so"
    parser.add_argument("--despite-unvouched-key", dest="despite_unvouched", action="store_true", help=text)
    text = "you gave this app a sharing ID of yours, though your vault does not know the one that it used"
    parser.add_argument("--invited", action="store_true", help=text)
    parser.add_argument("--access-duration", type=int, metavar="SECONDS", help="left out: as long as was asked")


def approve_command(options: Namespace) -> dict[str, Any]:
    """What would leave; with --digest the status after the approval. Refused where the request is another one."""
    password, passphrase = _secrets(options.secrets_file)
    with Owner(options.site, memory=SeenNotes(state_directory())) as owner:
        owner.sign_in(options.login, password)
        owner.unlock(passphrase=passphrase)
        if options.take_older_state:
            owner.take_older_state()
        owner.check_state()
        review = owner.review(options.request_id)
        if options.digest is None:
            values = _chosen(owner.preview(review), options.attribute)
            return _shown(review, owner.memory_of(review), values, owner.knows_invitation(review))
        if review.request_digest != options.digest:
            raise Refused("this request is not the one that was shown", member="request_digest")
        status = owner.approve(
            review,
            attributes=options.attribute,
            access_duration=options.access_duration,
            despite_unvouched=options.despite_unvouched,
            invited=options.invited,
        )
        return as_json(status)


def _shown(review: Review, memory: AppMemory, values: dict[str, Any], is_invited: bool) -> dict[str, Any]:
    return {
        "app": as_json(review.app),
        "app_key_in_your_vault": memory.key,
        "app_domain_before": memory.domain_before,
        "app_knows_already": memory.knows,
        "sharing_id_in_your_vault": is_invited,
        "who_vouches_for_its_key": as_json(review.vouching),
        "request": review.request,
        "values_that_would_leave": values,
        "digest": review.request_digest,
    }


def _chosen(values: dict[str, Any], attributes: list[str] | None) -> dict[str, Any]:
    return values if attributes is None else {path: values[path] for path in attributes if path in values}


def _secrets(path: Path | None) -> tuple[str, str]:
    if path is None and sys.stdin.isatty():
        return getpass.getpass("Account password: "), getpass.getpass("Passphrase: ")
    lines = octets_of(path if path != Path("-") else None, 2 * MAX_SECRET_BYTES).split(b"\n")
    if len(lines) < 2 or not lines[0].strip() or not lines[1].strip():
        raise KeyRefused("give the account's password and the passphrase, one a line")
    try:
        password, passphrase = (line.removesuffix(b"\r").decode("utf-8") for line in lines[:2])
    except UnicodeDecodeError as error:
        raise KeyRefused("the password or the passphrase is not UTF-8") from error
    return password, passphrase
