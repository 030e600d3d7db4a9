"""What takes a developer's client more than one call, or something that it remembers; apart from how calls are sent."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from consent_bridge import calls
from consent_bridge.approvals import KeyPins
from consent_bridge.calls import Fetched, Plan, whole
from consent_bridge.errors import BridgeError
from consent_bridge.exports import origin_of
from consent_bridge.logs import LogKeeper, LogSight, Trust
from consent_bridge.opening import check_key, open_envelope
from consent_bridge.proofs import UnknownKey
from consent_bridge.results import Envelope, MadeRequest, ProvenReceipt, Receipt, Slice, Status
from consent_bridge.transport import rest_base_url

Result = TypeVar("Result")


class Plans:
    """What one client remembers, and the plans that need it."""

    def __init__(self, base_url: str, log_memory: Path | None, log_trust: Trust | None, pins: KeyPins | None) -> None:
        self.base_url = rest_base_url(base_url)
        self.origin = origin_of(self.base_url)
        self.pins = KeyPins() if pins is None else pins
        self._log = LogKeeper(log_memory, log_trust)
        self._seen_revisions: dict[str, int] = {}
        self._keys: dict[str, bytes] = {}

    def wait_for_decision(self, request_id: str, *, timeout: float) -> Plan[Status]:
        """The status once it is no longer pending; WaitTimeout after `timeout` seconds, math.inf waits for ever.

        A service that restarts meanwhile is waited for too; Unreachable if it is still away when the time is up.
        """
        waiting = calls.Waiting(timeout, time.monotonic)
        while True:
            outcome: Status | BridgeError
            try:
                outcome = yield calls.status(request_id, wait=waiting.seconds())
            except BridgeError as error:
                outcome = error
            pause = waiting.pause_after(outcome)
            if pause is None and isinstance(outcome, Status):
                return outcome
            if pause:
                yield pause

    def fetch_export(self, request_id: str) -> Plan[Envelope]:
        """The sealed export; counts as one read, also where the answer was lost and is fetched again."""
        return whole((yield calls.fetched_export(request_id)))

    def read(self, request: MadeRequest, key: Mapping[str, Any], *, seen_revision: int = 0) -> Plan[Slice]:
        """Fetch the export, compare it with what was asked, open it with the connector's private key.

        Refuses a revision lower than `seen_revision` or than one that this client saw before.
        """
        check_key(request, key)
        fetched: Fetched = yield calls.fetched_export(request.request_id)
        return (yield from self._opened(fetched, request, key, seen_revision))

    def read_newer(self, request: MadeRequest, key: Mapping[str, Any], known: Slice) -> Plan[Slice | None]:
        """The same, or None where nothing changed since `known` was read; that counts no read.

        The grant is checked all the same: `grant_ended` and `grant_paused` are raised as by `read`.
        """
        check_key(request, key)
        fetched: Fetched = yield calls.fetched_export(request.request_id, known.etag)
        if fetched.envelope is None:
            return None
        return (yield from self._opened(fetched, request, key, known.revision))

    def _opened(self, fetched: Fetched, request: MadeRequest, key: Mapping[str, Any], seen: int) -> Plan[Slice]:
        seen = max(seen, self._seen_revisions.get(request.request_id, 0))
        given: Any = {"seen_revision": seen, "etag": fetched.etag, "pins": self.pins}
        opened: Slice = yield partial(open_envelope, whole(fetched), request, key, **given)
        self._seen_revisions[request.request_id] = opened.revision
        return opened

    def receipt(self, receipt_id: str) -> Plan[Receipt]:
        """The signed proof of one event, verified; Refused if it is not what it says."""
        jws: str = yield calls.receipt(receipt_id)
        return (yield from self._verified(lambda keys: calls.proven_receipt(receipt_id, jws, keys)))

    def follow_log(self) -> Plan[LogSight]:
        """Look at the public log: signed, cosigned by whom, and consistent with what this client saw of it last.

        Refused where it was rewritten or rolled back, LogEpochChanged where it began anew, NothingPublished where it
        has no checkpoint yet. The keys are `log_trust`, else those of the first look; they and the last checkpoint
        are kept in the file `log_memory`, or as long as this client lives.
        """
        memory = yield from calls.follow_log(self._log.find(self.origin))
        return self._log.keep(self.origin, memory)

    def accept_log_epoch(self, origin: str) -> Plan[LogSight]:
        """Go on with the log that began anew under this name, as `LogEpochChanged.newest.origin` has it.

        For somebody who was told what was restored: nothing shows that the new tree has what was seen of the old one.
        """
        memory = yield from calls.accept_epoch(self._log.known(self.origin), origin)
        return self._log.keep(self.origin, memory)

    def receipt_with_proof(self, receipt_id: str) -> Plan[ProvenReceipt | None]:
        """The receipt, verified, with the proof that its event is in the public log; None where it is not there yet."""
        answer: dict[str, Any] | None = yield calls.receipt_with_proof(receipt_id)
        if answer is None:
            return None
        jws = str(answer.get("jws"))
        receipt = yield from self._verified(lambda keys: calls.proven_receipt(receipt_id, jws, keys))
        yield from self.follow_log()
        event, memory = yield from calls.prove_receipt(self._log.known(self.origin), receipt.claims, answer)
        self._log.keep(self.origin, memory)
        return calls.as_proven(receipt, event)

    def verification_keys(self) -> Plan[dict[str, bytes]]:
        """The service's public keys by name, for `consent_bridge.proofs`."""
        self._keys = yield calls.keys()
        return self._keys

    def _verified(self, verify: Callable[[Mapping[str, bytes]], Result]) -> Plan[Result]:
        if self._keys:
            try:
                return verify(self._keys)
            except UnknownKey:
                pass  # the keys may have been rotated since they were fetched
        return verify((yield from self.verification_keys()))
