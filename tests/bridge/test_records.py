"""What a vault remembers of its own approvals, by the steps that Node and the pages' code are held to as well."""

import json
from pathlib import Path
from typing import Any

import pytest

from consent_bridge.errors import Refused
from consent_bridge.records import Approved, record_of, with_record, without_records
from consent_bridge.vault_notes import seal_notes
from consent_bridge.wrappers import VaultKey

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "records.json").read_text())
LARGEST = 64_000  # bytes of the notes, sealed
APPS = 30
NOW = 1_795_774_930


def approved(approval: dict[str, Any]) -> Approved:
    return Approved(
        tuple(approval["attributes"]), approval["ends_at"], approval["revision"], approval["approval_sha256"]
    )


def test_each_step_leaves_what_it_has_to() -> None:
    records: dict[str, Any] | None = None
    for step in VECTORS["steps"]:
        if "end" in step:
            records = without_records(records, step["end"], step["now"])
        else:
            name, expected = step["add"]
            vector = VECTORS["requests"][name]
            if "refused" in step:
                with pytest.raises(Refused) as refused:
                    with_record(records, vector["request"], vector["digest"], approved(expected), step["now"])
                assert refused.value.member == step["refused"], step["does"]
            else:
                records = with_record(records, vector["request"], vector["digest"], approved(expected), step["now"])
        if "leaves" in step:
            assert records == step["leaves"], step["does"]
        for name, expected in step.get("reads", {}).items():
            vector = VECTORS["requests"][name]
            found = record_of(records, vector["request"], vector["digest"])
            assert found == (expected and approved(expected)), (step["does"], name)


def test_a_vault_remembers_nothing_where_it_has_no_records() -> None:
    vector = VECTORS["requests"]["food"]
    assert record_of(None, vector["request"], vector["digest"]) is None
    assert without_records(None, [], NOW) == {}


def _id(prefix: str, number: int) -> str:
    return f"{prefix}_{number:026d}"


def _digest(number: int) -> str:
    return f"{number:043d}"


def test_notes_of_300_approvals_stay_small() -> None:
    """Of thirty apps, each with a key and a domain; every fourth approval leaves two attributes of eight out."""
    paths = [f"lifestyle.preferences.favourite_{number}" for number in range(8)]
    records: dict[str, Any] | None = None
    for number in range(300):
        app = number % APPS
        request = {
            "user_id": _id("usr", app),
            "app_id": _id("app", app),
            "connector_thumbprint": _digest(app),
            "attributes": paths,
            "required_attributes": None,
            "optional_attributes": None,
        }
        chosen = paths[2:] if number % 4 == 0 else paths
        approval = Approved(tuple(chosen), NOW + number + 1, 12, _digest(number))
        records = with_record(records, request, _digest(number), approval, NOW)
    head = {"chain": _id("chn", 1), "sequence": 12345, "entry_hash": _digest(2)}
    witnesses = [f"w{number}.example+12345678+{_digest(number)}" for number in range(3)]
    notes = {
        "approvals": records,
        "connectors": {_id("app", app): [_digest(app)] for app in range(APPS)},
        "domains": {_id("app", app): f"shop-{app}.example" for app in range(APPS)},
        "segments": {f"lifestyle.preferences_{number}": 12 for number in range(40)},
        "history": head,
        "proved": head,
        "log": {"keys": witnesses[:1], "witnesses": witnesses, "note": "n" * 600, "size": 12345, "head": head},
        "root": _digest(1),
        "generation": NOW,
    }

    assert len(seal_notes(notes, VaultKey(_id("vk", 1), bytes(32)), _id("usr", 1), 12)) < LARGEST
    assert without_records(records, [], NOW + 301) == {
        _id("app", app): {"sub": _id("usr", app), "keys": {}} for app in range(APPS)
    }
