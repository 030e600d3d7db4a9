"""What a person's own vault signed of an export, and whose key that was: checked before anything of it is used.

The service hands out what is sealed, and could hand out data of its own making. It cannot sign: each person has a key
for this app, which is kept at the first approval (`KeyPins`), and another is refused unless the old one led to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from consent_bridge import signatures
from consent_bridge.errors import KeyRefused, Refused
from consent_bridge.exports import origin_of, request_digest
from consent_bridge.results import Envelope, MadeRequest, as_json
from consent_bridge.signing import APPROVAL_TYP, ROTATION_TYP

_WHAT = "the approval"
_MOST_STEPS = 1000
_LEEWAY = 300  # seconds that two clocks may differ
_WAIT = 7 * 24 * 3600  # as long as a vault that is given up can be taken back


class OwnerKeyChanged(KeyRefused):
    """Another key than this person's: `reset` where they lost their vault. `accept_owner_key` takes it later."""

    def __init__(self, reason: str, *, key: signatures.Jwk, reset: bool) -> None:
        super().__init__(reason, member="owner_key")
        self.key, self.reset = key, reset


@dataclass
class Pin:
    """The key of one person, and the approvals under earlier ones that were taken while they counted."""

    key: signatures.Jwk
    earlier: list[str] = field(default_factory=list)
    approvals: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class NewKey:
    """The key that came last in place of a person's own, and when this client first met it (seconds since 1970)."""

    x: str
    met_at: int


class KeyPins:
    """The key of each person by issuer and user_id, as it was first met. In memory; `load` and `dump` persist."""

    def __init__(self, stored: Mapping[str, Any] | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self._pins: dict[str, Pin] = {}
        self._new: dict[str, NewKey] = {}
        self._clock = clock
        self.load(stored or {})

    def load(self, stored: Mapping[str, Any]) -> None:
        """Take what `dump` gave."""
        for name, pin in stored.items():
            self._new.pop(name, None)
            if not isinstance(pin, Mapping):
                raise KeyRefused("a kept key is no object")
            if new := pin.get("new"):
                if type(new["met_at"]) is not int:
                    raise KeyRefused("it is not known when a kept new key was met", member="met_at")
                self._new[name] = NewKey(str(new["x"]), new["met_at"])
            if "key" in pin or not new:
                key = signatures.check_public_key(pin["key"], "the kept key")
                self._pins[name] = Pin(key, list(pin.get("earlier", ())), list(pin.get("approvals", ())))

    def dump(self) -> dict[str, Any]:
        """Plain JSON."""
        kept = {name: asdict(pin) for name, pin in self._pins.items()}
        return kept | {name: {**kept.get(name, {}), "new": asdict(new)} for name, new in self._new.items()}

    def find(self, issuer: str, user_id: str) -> Pin | None:
        return self._pins.get(_name(issuer, user_id))

    def accept(self, issuer: str, user_id: str, key: Mapping[str, Any]) -> None:
        """Take this key as the person's, by somebody's decision: they said on another way that it is theirs.

        KeyRefused until seven days after this client met it, which begin now where it never did: meanwhile the person
        sees that the service names a root that is not their vault's.
        """
        name, taken = _name(issuer, user_id), signatures.check_public_key(key, "the key")
        if name in self._pins and self._pins[name].key == taken:
            return
        possible_at = self.meet(issuer, user_id, taken)
        if self._clock() < possible_at:
            reason = f"this key can be accepted from {_text(possible_at)} on, seven days after this client met it"
            raise KeyRefused(reason, member="owner_key")
        self._pins[name] = Pin(taken)
        del self._new[name]

    def meet(self, issuer: str, user_id: str, key: signatures.Jwk) -> int:
        """Note that this key came in place of the person's own: when it can be accepted (seconds since 1970)."""
        name = _name(issuer, user_id)
        known, now = self._new.get(name), int(self._clock())
        if known is None or known.x != key["x"] or known.met_at > now:  # a clock that was ahead, and was set right
            self._new[name] = NewKey(key["x"], now)
        return self._new[name].met_at + _WAIT

    def keep(self, issuer: str, user_id: str, key: signatures.Jwk, approval: str) -> None:
        """Remember what was checked: the key, which may have moved on, and the approval."""
        name = _name(issuer, user_id)
        self._new.pop(name, None)  # a reset ends all that the old key signed: who still reads it met none
        pin = self._pins.setdefault(name, Pin(key))
        if pin.key != key and signatures.thumbprint(key) not in pin.earlier:
            pin.earlier.append(signatures.thumbprint(pin.key))
            pin.key = key
        if signatures.sha256(approval) not in pin.approvals:
            pin.approvals.append(signatures.sha256(approval))


def joined(before: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """What two programs know after both began with `before`, each as `dump` gives it."""
    names = {**theirs, **ours}
    return {name: _joined(before.get(name), ours.get(name), theirs.get(name)) for name in names}


def _joined(before: Any, ours: Any, theirs: Any) -> Any:
    if theirs is None or (theirs == before and ours is not None):
        return ours
    if ours is None or ours == before:
        return theirs
    old, own, other = ((entry or {}).get("key") for entry in (before, ours, theirs))
    newer, older = (theirs, ours) if own == old != other else (ours, theirs)  # a key that moved on counts more
    if not own or not other or (own != other and signatures.thumbprint(older["key"]) not in newer["earlier"]):
        return newer
    lists = {name: list(dict.fromkeys([*theirs[name], *ours[name]])) for name in ("earlier", "approvals")}
    return {**newer, **lists}


def _name(issuer: str, user_id: str) -> str:
    return f"{issuer} {user_id}"


def _text(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def check_approval(envelope: Envelope, request: MadeRequest, pins: KeyPins) -> None:
    """Refused unless the person's own vault signed exactly this export of exactly what was asked; pins their key."""
    key = signatures.check_public_key(envelope.owner_key, "the person's key")
    issuer = origin_of(request.issuer)
    claims = signatures.verified(envelope.approval, APPROVAL_TYP, key, _WHAT)
    _check_approval_claims(claims, envelope, request, issuer)
    _check_key(envelope, request, key, pins, issuer)
    pins.keep(issuer, request.user_id, key, envelope.approval)


def _check_approval_claims(claims: Mapping[str, Any], envelope: Envelope, request: MadeRequest, issuer: str) -> None:
    iat, ends_at = signatures.number_of(claims, "iat", _WHAT), signatures.number_of(claims, "ends_at", _WHAT)
    duration = signatures.number_of(claims, "access_duration", _WHAT)
    if ends_at <= time.time() - _LEEWAY:
        raise Refused(f"{_WHAT} is over", member="ends_at")
    if duration > request.access_duration:
        raise Refused(f"{_WHAT}'s access_duration is longer than was asked for", member="access_duration")
    expected = {
        "iss": issuer,
        "sub": request.user_id,
        "aud": request.app_id,
        "iat": iat,
        "ends_at": iat + duration if envelope.revision == 1 else ends_at,
        "request_id": request.request_id,
        "request_digest": request_digest(_request_members(request)),
        "revision": envelope.revision,
        "access_duration": duration,
        "approved_attributes": sorted(envelope.approved_attributes),
        "export_sha256": signatures.sha256(envelope.jwe),
    }
    signatures.check_claims(claims, expected, _WHAT)


def _request_members(request: MadeRequest) -> dict[str, Any]:
    """What was asked, as the request's own record has it: the digest is made here and not taken over."""
    members = as_json(request.request)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in members.items()}


def _check_key(envelope: Envelope, request: MadeRequest, key: signatures.Jwk, pins: KeyPins, issuer: str) -> None:
    pin, reset = pins.find(issuer, request.user_id), envelope.owner_key_reset
    if pin is None and not reset:
        return
    if pin is not None:
        if pin.key == key or _taken_before(envelope, key, pin):
            return
        if _leads(envelope.key_history, pin.key, key, request, issuer):
            return
    reason = "the person lost their vault, and this key is new" if reset else "this is another key than the one kept"
    possible_at = _text(pins.meet(issuer, request.user_id, key))
    message = f"{reason} ({key['x']}): ask the person on another way; it can be accepted from {possible_at} on"
    raise OwnerKeyChanged(message, key=key, reset=reset)


def _taken_before(envelope: Envelope, key: signatures.Jwk, pin: Pin) -> bool:
    """What an earlier key signed counts where it was taken while that key did, and never anew."""
    return signatures.thumbprint(key) in pin.earlier and signatures.sha256(str(envelope.approval)) in pin.approvals


def _leads(
    history: tuple[Any, ...], start: signatures.Jwk, end: signatures.Jwk, request: MadeRequest, issuer: str
) -> bool:
    """Whether the steps lead from the one key to the other, each signed by both of its keys and numbered in order."""
    current, seq = start, 0
    for step in history[:_MOST_STEPS]:
        claims = signatures.unchecked_claims(step, "a step of the key's history")
        old, new = (signatures.check_public_key(claims.get(name), f"a step's {name} key") for name in ("old", "new"))
        what = "a step of the key's history"
        claims = signatures.verified_by_both(step, ROTATION_TYP, (old, new), what)
        found = signatures.number_of(claims, "seq", what)
        names = {"iss": issuer, "sub": request.user_id, "aud": request.app_id, "seq": seq + 1 if seq else found}
        signatures.check_claims(
            claims, {**names, "old": old, "new": new, "iat": signatures.number_of(claims, "iat", what)}, what
        )
        seq = found
        if old == current:
            current = new
    return current == end
