"""The commands that verify what the service signed. They need its public keys, from a file or from the service."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import Any

import requests

from consent_bridge import calls, proofs
from consent_bridge.encoding import parse_object
from consent_bridge.errors import Refused
from consent_bridge.exports import origin_of
from consent_bridge.inputs import octets_of
from consent_bridge.state import read_small_file
from consent_bridge.transport import Transport, anonymous


def verify_receipt_command(options: Namespace) -> dict[str, Any]:
    """The claims of a receipt."""
    return _verified(options, proofs.RECEIPT)


def verify_checkpoint_command(options: Namespace) -> dict[str, Any]:
    """The claims of a checkpoint."""
    return _verified(options, proofs.CHECKPOINT)


def _verified(options: Namespace, kind: str) -> dict[str, Any]:
    given, beside = octets_of(options.signed).strip(), None
    if given.startswith(b"{"):
        body = parse_object(given, "the file")
        given, beside = str(body.get("jws", "")).encode("ascii", "replace"), body.get("claims")
    try:
        jws = given.decode("ascii")
    except UnicodeDecodeError as error:
        raise Refused("the signed text is no compact JWS: it holds bytes that are not ASCII") from error
    claims = proofs.verify_as_text(jws, _keys(options), kind, options.expect)
    if beside is not None and beside != claims:
        raise Refused("the claims beside the signature are not those that were signed", member="claims")
    return claims


def _keys(options: Namespace) -> dict[str, bytes]:
    if options.jwks is not None:
        path: Path = options.jwks
        return proofs.read_keys(parse_object(read_small_file(path, "the key set"), f"the key set {path}"))
    base_url = options.base_url or os.environ.get("CONSENT_BASE_URL")
    if not base_url:
        raise Refused("give --jwks FILE, or set CONSENT_BASE_URL to fetch the keys from the service")
    with requests.Session() as session:
        session.auth = anonymous
        call = calls.keys()
        return call.read(Transport(origin_of(base_url), session).send(call.method, call.path, repeatable=True))
