"""What an owner's vault remembers, written and read as its programs do it."""

import hashlib

import rfc8785

from consent_bridge.encoding import encode_base64url
from consent_bridge.owner import Owner
from consent_bridge.results import Status, build
from consent_bridge.signatures import verified
from consent_bridge.vault_notes import open_notes, seal_notes
from tests.bridge.fake_site import LOGIN, PASSPHRASE, PASSWORD, STATUS
from tests.bridge.wire import APPROVED

CUISINE, DIET = "lifestyle.food.favorite_cuisine", "lifestyle.food.diet_preference"


def status(*attributes, revision=1):
    terms = {"grant_id": "grt_a", "approved_attributes": list(attributes), "export_revision": revision}
    return build(Status, {**STATUS, "grant": {**APPROVED["grant"], **terms}})


def claims_of(sent):
    return verified(sent["approval"], "consent-approval+jwt", sent["approval_key"], "it")


def notes_of(unlocked, site):
    return open_notes(site.notes["jwe"], unlocked._unlocked(), "usr_a", site.notes["revision"])


def write_notes(unlocked, site, **changes):
    notes = {**notes_of(unlocked, site), **changes}
    revision = site.notes["revision"] + 1
    site.notes = {"jwe": seal_notes(notes, unlocked._unlocked(), "usr_a", revision), "revision": revision}


def entry(site, kind, facts, at="2026-11-20T10:00:00Z"):
    """The next entry of the person's chain, hashed as the service does it."""
    last = site.chain[-1] if site.chain else {"sequence": 0, "entry_hash": ""}
    salt = bytes(32)
    hashed = {
        "v": 2,
        "chain": "c" * 22,
        "sequence": last["sequence"] + 1,
        "prev_hash": last["entry_hash"],
        "kind": kind,
        "actor": "person",
        "at": at,
        "facts_hash": digest(facts, salt),
    }
    return {**hashed, "entry_hash": digest(hashed), "facts": facts, "salt": encode_base64url(salt)}


def digest(value, salt=b""):
    return encode_base64url(hashlib.sha256(salt + rfc8785.dumps(value)).digest())


def another_program(fake, memory):
    owner = Owner(fake.url, memory=memory)
    owner.sign_in(LOGIN, PASSWORD)
    owner.unlock(passphrase=PASSPHRASE)
    return owner
