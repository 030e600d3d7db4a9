"""What each command does: options in, a JSON value out, BridgeError where it refuses."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from consent_bridge import login
from consent_bridge.client import Client
from consent_bridge.encoding import parse_object
from consent_bridge.errors import BadAnswer, BridgeError, KeyRefused, Refused, one_line
from consent_bridge.exports import open_export_where
from consent_bridge.inputs import MAX_SECRET_BYTES, standard_input, text_in, text_of
from consent_bridge.jwe import equal_as_text
from consent_bridge.keyring import Keyring
from consent_bridge.keys import Jwk, generate_connector_key, public_half, thumbprint
from consent_bridge.results import APPROVED, MadeRequest, as_json, build
from consent_bridge.rules import TERM_RULES
from consent_bridge.segments import open_segment_where
from consent_bridge.state import RequestLog, read_key_file, read_small_file, state_directory, write_private_file
from consent_bridge.wrappers import unwrap


class Undone(BridgeError):
    """The command has a result to print, but what was asked for did not happen."""

    def __init__(self, reason: str, result: object) -> None:
        super().__init__(reason)
        self.result = result


def keygen(options: Namespace) -> dict[str, Any]:
    """Make a connector key pair."""
    private = generate_connector_key(options.curve)
    write_private_file(keyring_of(options).path, private, force=options.force)
    return {"connector_public_key": public_half(private), "thumbprint": thumbprint(private)}


def discover(options: Namespace) -> dict[str, Any]:
    """A person's scopes, or the catalog."""
    with _client(options) as client:
        if options.user_id is None:
            entries = client.catalog(domain=options.domain, query=options.query)
            return {"scope_entries": [as_json(entry) for entry in entries]}
        return as_json(client.discover(options.user_id, domain=options.domain, query=options.query))


def request(options: Namespace) -> dict[str, Any]:
    """Ask, and remember what was asked; Undone where it was asked, but could not be remembered."""
    key, log = _private_key(options), RequestLog(state_directory())
    log.check_writable()
    with _client(options) as client:
        made_request = client.request_consent(
            options.user_id,
            options.scope,
            purpose=options.purpose,
            key=key,
            connector_key_id=options.key_id,
            idempotency_key=options.idempotency_key,
            **{name: getattr(options, name) for name in TERM_RULES},
        )
    result = as_json(made_request)
    try:
        log.keep(made_request)
    except Refused as refused:
        raise Undone(f"the request was made, but is not remembered: {refused}", result) from refused
    return result


def status(options: Namespace) -> dict[str, Any]:
    """Where a request stands, at once."""
    with _client(options) as client:
        return as_json(client.status(options.request_id))


def end(options: Namespace) -> dict[str, Any]:
    """Take a waiting request back, or give an approval up."""
    with _client(options) as client:
        return as_json(client.end(options.request_id))


def wait(options: Namespace) -> dict[str, Any]:
    """Wait for the decision; anything but an approval is Undone."""
    with _client(options) as client:
        status = client.wait_for_decision(options.request_id, timeout=options.timeout)
    result = as_json(status)
    if status.status != APPROVED:
        raise Undone(f"the request is {one_line(status.status, 40)}", result)
    return result


def read(options: Namespace) -> dict[str, Any]:
    """Fetch and open; the revision is remembered, so that an older one is refused the next time.

    Undone where it was read, but could not be remembered.
    """
    log = RequestLog(state_directory())
    made_request, seen = _stored_request(options, log)
    key = keyring_of(options).find(made_request.connector_fingerprint)
    log.check_writable()
    pins, result = log.owner_keys.load(), None
    try:
        with Client(*address_and_token(options), pins=pins) as client, log.owner_keys.keeping(pins):
            if options.accept_owner_key:
                client.accept_owner_key(made_request, {"kty": "OKP", "crv": "Ed25519", "x": options.accept_owner_key})
            opened = client.read(made_request, key, seen_revision=seen)
            result = as_json(replace(opened, etag=""))
        log.keep(made_request, revision=opened.revision)
    except Refused as refused:
        if result is None:
            raise
        raise Undone(f"it was read, but that is not remembered: {refused}", result) from refused
    return result


def _stored_request(options: Namespace, log: RequestLog) -> tuple[MadeRequest, int]:
    if options.request is not None:
        body = parse_object(read_small_file(options.request, "the request file"), "the request file")
        try:
            made_request = build(MadeRequest, body, "the request file")
        except BadAnswer as error:
            raise Refused(str(error)) from error
        if options.request_id not in (None, made_request.request_id):
            raise Refused("the request file is of another request", member="request_id")
        known = log.find(made_request.request_id)
        return made_request, known[1] if known else 0
    if options.request_id is None:
        raise Refused("name a request, or give --request FILE")
    known = log.find(options.request_id)
    if known is None:
        raise Refused("this request was not made on this machine: give --request FILE with what `request` printed")
    return known


def open_export_command(options: Namespace) -> dict[str, Any]:
    """Open an export that came by any way."""
    key = _private_key(options)
    return open_export_where(text_of(options.sealed), key, equal_as_text(options.expect)).as_json()


def open_segment_command(options: Namespace) -> dict[str, Any]:
    """Open a segment with the bare vault key."""
    try:
        vault_key = bytes.fromhex(options.vault_key_hex)
    except ValueError as error:
        raise KeyRefused("the vault key is not hexadecimal") from error
    return open_segment_where(text_of(options.sealed), vault_key, equal_as_text(options.expect))


def unwrap_command(options: Namespace) -> dict[str, Any]:
    """Open a wrapper with the secret on the first line of standard input."""
    first, _, rest = standard_input().partition(b"\n")
    if len(first) > MAX_SECRET_BYTES:
        raise KeyRefused(f"the secret on the first line is longer than {MAX_SECRET_BYTES} bytes")
    try:
        secret = first.removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise KeyRefused("the secret on the first line is not UTF-8") from error
    sealed = text_in(rest) if options.sealed is None else text_of(options.sealed)
    key = unwrap(sealed, options.kind, secret)
    return {"key_id": key.key_id, "vault_key_hex": key.secret.hex()}


def keyring_of(options: Namespace) -> Keyring:
    """The keys of this machine, or the one key file that --key or CONSENT_CONNECTOR_KEY names."""
    named = options.key or os.environ.get("CONSENT_CONNECTOR_KEY")
    return Keyring(state_directory(), Path(named) if named else None)


def address_and_token(options: Namespace) -> tuple[str, str | Callable[[], str]]:
    """Where the service is and what lets this app in: a developer token, else what `login` was allowed."""
    base_url, given = login.address(options), developer_token(options)
    token = given or login.kept_token(base_url)
    if not token:
        raise Refused("CONSENT_DEVELOPER_TOKEN is not set, and `consent-bridge login` was not done here")
    return base_url, token


def developer_token(options: Namespace) -> str | None:
    return options.token or os.environ.get("CONSENT_DEVELOPER_TOKEN")


def login_command(options: Namespace) -> dict[str, Any]:
    """Let a person allow this program in their browser."""
    return login.login_command(options, keyring_of(options))


def _private_key(options: Namespace) -> Jwk:
    return read_key_file(keyring_of(options).path)


def _client(options: Namespace) -> Client:
    return Client(*address_and_token(options))
