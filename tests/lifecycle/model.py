"""The whole lifecycle as it should be: one person, two apps and a clock, in plain data.

Every method is one thing that somebody does; it returns the answer that they should get, and changes what they should
find afterwards. Written from the contract: nothing of the service is used here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tests.lifecycle.records import (
    LIVE,
    Answer,
    Export,
    Facts,
    Grant,
    Kept,
    Place,
    Request,
    Segment,
    covers,
    refusal,
    segment_of,
)

RECENTLY = timedelta(seconds=600)  # how long a sign-in is fresh enough for restricted data
WITHOUT_RECEIPT = ("paused", "resumed")


@dataclass
class World:
    """Everything that should be true."""

    now: datetime
    user_id: str  # the person's own ID
    names: Mapping[str, str]  # {app_id: what the app calls the person}
    catalog: list[Facts]  # the registry's entries, in their order
    segments: dict[Place, Segment]
    app_names: Mapping[str, str]
    issuer: str
    signed_in_at: datetime
    hidden: set[str] = field(default_factory=set)
    withdrawn: set[str] = field(default_factory=set)
    blocked: set[str] = field(default_factory=set)
    requests: list[Request] = field(default_factory=list)
    approvals: list[Request] = field(default_factory=list)  # in the order of their grants
    keys: dict[tuple[str, str, str], Kept] = field(default_factory=dict)
    notices: dict[str, list[tuple[str, Facts]]] = field(default_factory=dict)
    chains: dict[str, list[tuple[str, str, Any]]] = field(default_factory=dict)
    unchained: list[Request] = field(default_factory=list)
    misses: dict[str, list[datetime]] = field(default_factory=dict)
    discoveries: dict[str, int] = field(default_factory=dict)

    # -- what is there

    def entry(self, scope: str) -> Facts | None:
        return next((entry for entry in self.catalog if entry["scope"] == scope), None)

    def paths(self) -> set[str]:
        """The paths of everything that the person keeps."""
        return {
            f"{domain}.{segment}.{name}"
            for (domain, segment), kept in self.segments.items()
            for name in kept.values or ()
        }

    def discoverable(self) -> list[Facts]:
        """The registry's entries that touch a segment with something in it, and that nobody hides."""
        places = {segment_of(path) for path in self.paths()}
        return [
            entry
            for entry in self.catalog
            if entry["scope"] not in self.withdrawn
            and places & {segment_of(path) for path in entry["attributes"]}
            and not any(covers(veil, entry["scope"]) for veil in self.hidden)
        ]

    def of_app(self, app: str) -> Iterator[Request]:
        return (request for request in self.requests if request.app == app)

    def live_grants(self) -> list[tuple[Request, Grant]]:
        """Those that the database has as live, whatever the clock says; the oldest first."""
        return [
            (request, request.grant) for request in self.approvals if request.grant and request.grant.written in LIVE
        ]

    def signed_in_recently(self) -> bool:
        return self.now - self.signed_in_at < RECENTLY

    # -- what is left behind

    def record(self, request: Request, event: str, actor: str, *, kind: str = "") -> None:
        """A notice with the app's next number, an entry in both chains, and a receipt where something ended."""
        notices = self.notices.setdefault(request.app, [])
        request.sequence = len(notices) + 1
        if not kind and event not in WITHOUT_RECEIPT:
            request.add_receipt(event)
        notices.append((kind or f"consent.{event}", request.body(self.now)))
        for chain in ("person", request.app):
            self.chains.setdefault(chain, []).append((event, actor, request.request_id))

    def close(self, request: Request, to: str, actor: str) -> None:
        request.written = to
        request.decided_at = request.expires_at if to == "expired" else self.now
        self.record(request, to, actor)

    def end_grant(self, request: Request, to: str, actor: str) -> None:
        assert request.grant is not None
        request.grant.written = to
        self.record(request, to, actor)

    # -- the person

    def approve(self, request: Request, body: Facts, export: Export, *, flaw: str = "") -> Answer:
        """`flaw` says what is wrong with the sealed export or with what it was made from."""
        entry = self.entry(request.scope)
        restricted = entry is not None and entry["sensitivity_tier"] == "restricted"
        if request.status(self.now) == "pending" and restricted and not self.signed_in_recently():
            return refusal(403, "reauthentication_required", url=f"{self.issuer}/accounts/reauthenticate/")
        refused = self._undecidable(request) or self._unfit(request, body, flaw)
        if refused:
            return refused
        for older, grant in self.live_grants():
            if (older.app, older.scope) == (request.app, request.scope):
                self.end_grant(older, "superseded" if grant.is_live(self.now) else "expired", "system")
        request.written, request.decided_at = "approved", self.now
        request.grant = Grant(
            approved=body["approved_attributes"],
            starts_at=self.now,
            expires_at=self.now + timedelta(seconds=body["access_duration"]),
            max_reads=request.terms["max_reads"],
            exports=[export],
        )
        self.approvals.append(request)
        self.record(request, "approved", "person")
        return self.status_of(request)

    def _undecidable(self, request: Request) -> Answer | None:
        status = request.status(self.now)
        if status == "expired":
            return refusal(410, "request_expired", request_status="expired")
        return None if status == "pending" else refusal(409, "already_decided", request_status=status)

    def _unfit(self, request: Request, body: Facts, flaw: str) -> Answer | None:
        approved, kept = body["approved_attributes"], self.paths()
        if flaw == "digest":
            return refusal(409, "request_changed")
        if not 300 <= body["access_duration"] <= request.terms["access_duration"]:
            return refusal(400, "invalid_duration")
        entry = self.entry(request.scope)
        if entry is not None and entry["sensitivity_tier"] == "restricted":
            return refusal(403, "key_not_vouched")  # the apps here neither publish nor register their keys
        if not approved or not all(request.names(path, kept) for path in approved):
            return refusal(400, "invalid_attributes")
        if not set(request.terms["required_attributes"] or []) <= set(approved):
            return refusal(400, "required_attribute_missing")
        if not set(approved) & kept:
            return refusal(400, "invalid_attributes")
        if flaw == "stale":
            return refusal(409, "stale_revision")
        return refusal(400, "export_mismatch", member=flaw) if flaw else None

    def deny(self, request: Request) -> Answer:
        refused = self._undecidable(request)
        if refused:
            return refused
        self.close(request, "denied", "person")
        return self.status_of(request)

    def revoke(self, request: Request) -> Answer:
        return self._move(request, "revoked", lambda: self.end_grant(request, "revoked", "person"), "active", "paused")

    def pause(self, request: Request) -> Answer:
        return self._move(request, "paused", lambda: self._switch(request, "paused"), "active")

    def resume(self, request: Request) -> Answer:
        return self._move(request, "active", lambda: self._switch(request, "active"), "paused")

    def _switch(self, request: Request, to: str) -> None:
        assert request.grant is not None
        request.grant.written = to
        self.record(request, "paused" if to == "paused" else "resumed", "person")

    def _move(self, request: Request, to: str, change: Callable[[], None], *sources: str) -> Answer:
        """Repeated, nothing more happens; from anywhere but `sources` it cannot be done."""
        assert request.grant is not None
        status = request.grant.status(self.now)
        if status in sources:
            change()
        elif status != to:
            return refusal(409, "move_not_allowed", grant_status=status)
        return self.status_of(request)

    def refresh(self, request: Request, export: Export, *, flaw: str = "") -> Answer:
        """A newer revision under a continuous grant."""
        grant = request.grant
        assert grant is not None
        if grant.status(self.now) != "active":
            return refusal(409, "move_not_allowed", grant_status=grant.status(self.now))
        if request.terms["refresh_policy"] != "continuous":
            return refusal(400, "export_mismatch", member="revision")
        if export.revision != grant.exports[-1].revision + 1:
            return refusal(409, "stale_revision", current_revision=grant.exports[-1].revision)
        if flaw == "stale":
            return refusal(409, "stale_revision")
        if flaw:
            return refusal(400, "export_mismatch", member=flaw)
        grant.exports.append(export)
        self.record(request, "export_updated", "person", kind="export.updated")
        return self.status_of(request)

    def block(self, app: str) -> int:
        """The status of the page's answer. What waits is cancelled, what is shared stays. Both apps know the person."""
        for request in self.of_app(app):
            if request.status(self.now) == "pending":
                self.close(request, "cancelled", "person")
        if app not in self.blocked:
            self.chains.setdefault("person", []).append(("app_blocked", "person", app))
        self.blocked.add(app)
        return 302

    def unblock(self, app: str) -> int:
        if app in self.blocked:
            self.chains.setdefault("person", []).append(("app_unblocked", "person", app))
        self.blocked.discard(app)
        return 302

    # -- the app

    def end(self, request: Request) -> Answer:
        if request.status(self.now) == "pending":
            self.close(request, "cancelled", "app")
        elif request.grant is not None and request.grant.is_live(self.now):
            self.end_grant(request, "released", "app")
        return self.status_of(request)

    def status_of(self, request: Request) -> Answer:
        return Answer(200, request.body(self.now))

    # -- staff and the service itself

    def terminate(self, request: Request) -> None:
        if request.grant is not None and request.grant.is_live(self.now):
            self.end_grant(request, "terminated", "staff")

    def withdraw(self, scope: str) -> None:
        if scope in self.withdrawn:
            return
        self.withdrawn.add(scope)
        for request in self.requests:
            if request.scope == scope and request.status(self.now) == "pending":
                self.close(request, "cancelled", "staff")

    def write_down_expiry(self) -> int:
        """What the clock ended and nobody wrote down: requests first, then grants, each in the order of their ends."""
        requests = [r for r in self.requests if r.written == "pending" and r.expires_at <= self.now]
        grants = [(r, g) for r, g in self.live_grants() if g.expires_at <= self.now]
        for request in sorted(requests, key=lambda request: request.expires_at):
            self.close(request, "expired", "system")
        for request, _ in sorted(grants, key=lambda pair: pair[1].expires_at):
            self.end_grant(request, "expired", "system")
        return len(requests) + len(grants)

    def chain_reads(self) -> int:
        """One entry holds all the reads of a chain that none holds yet."""
        waiting, self.unchained = self.unchained, []
        for chain, reads in [
            ("person", waiting),
            *((app, [r for r in waiting if r.app == app]) for app in self.app_names),
        ]:
            if reads:
                self.chains.setdefault(chain, []).append(("reads", "app", len(reads)))
        return len(waiting)

    def repeated(self, app: str, operation: str, key: str | None, body: Any) -> Answer | None:
        """The first answer under this key, or the refusal where it stood for something else."""
        kept = self.keys.get((app, operation, key)) if key is not None else None
        if kept is None or kept.until <= self.now:
            return None
        return kept.answer if kept.body == body else refusal(409, "idempotency_conflict")

    def keep(self, app: str, operation: str, key: str | None, body: Any, answer: Answer, seconds: int) -> None:
        if key is not None:
            self.keys[app, operation, key] = Kept(body, answer, self.now + timedelta(seconds=seconds))
