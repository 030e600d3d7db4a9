"""`consent-bridge sandbox …`: play a person from a shell. Each vault key lies in a file that only this user reads."""

from __future__ import annotations

import re
from argparse import Namespace
from pathlib import Path
from typing import Any

from consent_bridge.client import Client
from consent_bridge.commands import address_and_token
from consent_bridge.encoding import parse_object
from consent_bridge.errors import KeyRefused, Refused
from consent_bridge.results import Status, as_json
from consent_bridge.sandbox import SandboxPerson
from consent_bridge.segments import check_vault_key
from consent_bridge.state import read_small_file, state_directory, write_private_file
from consent_bridge.wrappers import VaultKey

_USER_ID = re.compile(r"usr_[a-z0-9]{1,60}\Z")


def new(options: Namespace) -> dict[str, Any]:
    """Make a person, keep the vault key, and fill the vault unless it shall stay empty."""
    with Client(*address_and_token(options)) as client:
        person = client.make_sandbox_person(options.label)
        path = _key_file(person.user_id)
        key = person.vault_key
        write_private_file(path, {"key_id": key.key_id, "vault_key_hex": key.secret.hex()})
        if not options.empty:
            person.fill()
    return {"user_id": person.user_id, "label": person.label, "vault_key_file": str(path)}


def approve(options: Namespace) -> dict[str, Any]:
    with Client(*address_and_token(options)) as client:
        user_id = client.status(options.request_id).user_id
        person = client.sandbox_person(user_id, _kept_key(user_id))
        return as_json(
            person.approve(options.request_id, attributes=options.attribute, access_duration=options.access_duration)
        )


def deny(options: Namespace) -> dict[str, Any]:
    with Client(*address_and_token(options)) as client:
        return as_json(_person_of_request(client, options)[0].deny(options.request_id, reason=options.reason))


def revoke(options: Namespace) -> dict[str, Any]:
    with Client(*address_and_token(options)) as client:
        person, status = _person_of_request(client, options)
        if status.grant is None:
            raise Refused("this request was not approved, so there is nothing to revoke")
        return as_json(person.revoke(status.grant.grant_id))


def _person_of_request(client: Client, options: Namespace) -> tuple[SandboxPerson, Status]:
    """Whom the request is about; no vault key is needed to refuse."""
    status = client.status(options.request_id)
    return client.sandbox_person(status.user_id), status


def _key_file(user_id: str) -> Path:
    if not _USER_ID.match(user_id):
        raise Refused("this is not a user_id")
    return state_directory() / "sandbox" / f"{user_id}.json"


def _kept_key(user_id: str) -> VaultKey:
    path = _key_file(user_id)
    if not path.exists():
        raise KeyRefused("this person was not made on this machine, so their vault cannot be opened here")
    kept = parse_object(read_small_file(path, "the vault key file"), f"the vault key file {path}")
    try:
        return VaultKey(key_id=str(kept["key_id"]), secret=check_vault_key(bytes.fromhex(kept["vault_key_hex"])))
    except (KeyError, TypeError, ValueError) as error:
        raise KeyRefused(f"the vault key file {path} holds no vault key") from error
