"""What a vault remembers of its own approvals, in its sealed notes: the only authority for sealing newer copies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from consent_bridge.errors import Refused

Records = dict[str, Any]
"""app → {"sub", "keys": thumbprint of its key → request digest → [attributes, `ends_at`, revision, `approval_sha256`]}.
The attributes are "all" of what was asked, or of each its place in the request's list, and the path of one that is not
in it."""
Frozen = Mapping[str, Any]
"""A request as it was frozen, whose digest was computed again."""


@dataclass(frozen=True)
class Approved:
    """What the vault approved of one request; `ends_at` in seconds since 1970, `attributes` sorted."""

    attributes: tuple[str, ...]
    ends_at: int
    revision: int
    approval_sha256: str


def with_record(records: Records | None, request: Frozen, digest: str, approved: Approved, now: float) -> Records:
    """With the record of an approval, in the place of an older one of the same request; what is over by now leaves.

    Refused where the app knows this person by another ID, or another app by this one.
    """
    app_id, sub, thumbprint = request["app_id"], request["user_id"], request["connector_thumbprint"]
    kept = (records or {}).get(app_id) or {"sub": sub, "keys": {}}
    if kept["sub"] != sub:
        raise Refused("this app knows you by another ID", member="user_id")
    if any(app["sub"] == sub for other, app in (records or {}).items() if other != app_id):
        raise Refused("another app knows you by this ID", member="user_id")
    attributes = _packed(_list_of(request), approved.attributes)
    record = [attributes, approved.ends_at, approved.revision, approved.approval_sha256]
    of_key = {**kept["keys"].get(thumbprint, {}), digest: record}
    return without_records(
        {**(records or {}), app_id: {"sub": sub, "keys": {**kept["keys"], thumbprint: of_key}}}, (), now
    )


def record_of(records: Records | None, request: Frozen, digest: str) -> Approved | None:
    """What the vault approved of this very request, to this key."""
    app = (records or {}).get(request["app_id"], {})
    found = app.get("keys", {}).get(request["connector_thumbprint"], {}).get(digest)
    if found is None or app.get("sub") != request["user_id"]:
        return None
    attributes, *others = found
    return Approved(_unpacked(_list_of(request), attributes), *others)


def without_records(records: Records | None, digests: Collection[str] | None, now: float) -> Records:
    """Without the records of these requests, or of all (None), and without what is over by now.

    By which ID an app knows the person stays.
    """
    return {
        app_id: {"sub": app["sub"], "keys": _of_keys(app["keys"], digests, now)}
        for app_id, app in (records or {}).items()
    }


def _of_keys(keys: Records, digests: Collection[str] | None, now: float) -> Records:
    kept = {
        thumbprint: {
            digest: record
            for digest, record in requests.items()
            if record[1] > now and digests is not None and digest not in digests
        }
        for thumbprint, requests in keys.items()
    }
    return {thumbprint: requests for thumbprint, requests in kept.items() if requests}


def _list_of(request: Frozen) -> list[str]:
    """What the places in a record count through."""
    named = [*(request["required_attributes"] or ()), *(request["optional_attributes"] or ())]
    return list(dict.fromkeys(named or request["attributes"]))


def _packed(listed: list[str], attributes: Iterable[str]) -> str | list[int | str]:
    chosen = set(attributes)
    if chosen == set(listed):
        return "all"
    places = [place for place, path in enumerate(listed) if path in chosen]
    return [*places, *sorted(chosen - set(listed))]


def _unpacked(listed: list[str], kept: str | list[int | str]) -> tuple[str, ...]:
    if isinstance(kept, str):
        return tuple(sorted(listed))
    named = [one if isinstance(one, str) else listed[one] for one in kept if isinstance(one, str) or one < len(listed)]
    return tuple(sorted(named))
