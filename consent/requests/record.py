"""Records an event of a request or grant in the transaction of its change: audit entries, receipt, notice.

What gives access happens only if all three are written. What ends or refuses it happens in any case
(consent/ledger/protection.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from typing import Any

from django.db import transaction

from common import metrics
from common.sql.inserts import insert_rows
from consent.event_types import EventType
from consent.ledger import audit, receipts
from consent.ledger.models import Receipt
from consent.ledger.protection import try_write
from consent.notices.outbox import NewNotice, notify_apps
from consent.requests.models import ConsentRequest
from consent.requests.receipt_claims import GrantFacts, claims_about
from consent.states import Actor

_RECEIPT = [field.attname for field in Receipt._meta.concrete_fields if not field.primary_key]


@dataclass(frozen=True)
class Change:
    """One change of a request, or of its grant."""

    request: ConsentRequest  # as it is after the change
    event: EventType
    actor: Actor  # who did it
    at: datetime  # when it is written down
    grant: GrantFacts | None = None  # as it is after the change; None where the request has none
    facts: dict[str, Any] = field(default_factory=dict)  # of this event alone, in the entries of both chains
    to_app: dict[str, Any] = field(default_factory=dict)  # replace those in the app's chain: staff have no name there
    approval_sha256: str = ""  # of what the person's vault signed, which entry and receipt bind
    happened: datetime | None = None  # what the receipt proves, where that was before `at`

    @cached_property
    def receipt(self) -> dict[str, Any] | None:
        """Its claims; None for an event that no receipt proves."""
        if not self.event.has_receipt:
            return None
        claims = claims_about(
            request=self.request,
            grant=self.grant,
            event=self.event.value,
            happened=self.happened or self.at,
            at=self.at,
            receipt_id=receipts.new_receipt_id(),
        )
        return {**claims, **self._signed}

    @cached_property
    def entries(self) -> list[audit.NewEntry]:
        """The person's and the app's: either has its own name for the person."""
        facts = {
            "request_id": self.request.request_id,
            "grant_id": self.grant.grant_id if self.grant else None,
            "app_id": self.request.app.app_id,
            "scope": self.request.scope,
            "request_digest": self.request.request_digest,
            # what the rows and the receipt say: `verify_audit` compares them with it ever after
            "request_status": self.request.status,
            "grant": self.grant.as_facts() if self.grant else None,
            "receipt_id": self.receipt["receipt_id"] if self.receipt else None,
            "receipt_digest": receipts.digest_of(self.receipt) if self.receipt else None,
            **self.facts,
            **self._signed,
        }
        return _entries(self.request, self.event, self.actor, self.at, facts, self.to_app)

    @property
    def _signed(self) -> dict[str, str]:
        return {"approval_sha256": self.approval_sha256} if self.approval_sha256 else {}


def record(change: Change, *, notify: bool = True) -> None:
    """Write the change to both chains, sign its receipt, and write the notice that tells the app.

    Without `notify` the app knows already. The caller holds the request's or grant's row lock; the locks here follow in
    the one order: person's head, app's head, notice counter. Raises `AuditUnavailable`, but not for what protects a
    person.
    """
    _count([change])
    write, write_notice = partial(_write, [change]), partial(write_notices, [change.request], change.event, change.at)
    if not change.event.protects:
        write()
        if notify:
            write_notice()
        return
    about = change.request.request_id
    if not try_write(write, otherwise=partial(_defer, change), what=f"the audit entry “{change.event}”", about=about):
        _mark(change)
    if notify and not try_write(write_notice, what=f"the notice “{change.event}”", about=about):
        _mark(change)


def record_together(changes: Sequence[Change]) -> None:
    """The same of several changes of one kind, in the order given and in as many statements as of one.

    The caller holds all their rows, of which no two are of one request. All of it is written or nothing: raises
    whatever kept the database from it, also of what protects a person, and the caller then records one by one.
    """
    _count(changes)
    _write(changes)
    write_notices([change.request for change in changes], changes[0].event, changes[0].at)


def record_export_update(*, request: ConsentRequest, grant_id: str, at: datetime, facts: dict[str, Any]) -> None:
    """A continuous grant got a new revision: audited and told, without a receipt, since nothing ended."""
    facts = {"request_id": request.request_id, "grant_id": grant_id, "app_id": request.app.app_id, **facts}
    audit.append_all(_entries(request, EventType.EXPORT_UPDATED, Actor.PERSON, at, facts))
    write_notices([request], EventType.EXPORT_UPDATED, at)


def _entries(
    request: ConsentRequest,
    event: EventType,
    actor: Actor,
    at: datetime,
    facts: dict[str, Any],
    to_app: dict[str, Any] | None = None,
) -> list[audit.NewEntry]:
    user_id = request.user.public_id
    chains = {
        audit.person_chain(user_id): {**facts, "user_id": user_id},
        audit.app_chain(request.app.app_id): {**facts, **(to_app or {}), "user_id": request.pairwise_id},
    }
    return [audit.NewEntry(chain, event.value, actor.value, at, own_facts) for chain, own_facts in chains.items()]


def _count(changes: Sequence[Change]) -> None:
    """For /metrics, once it is committed."""
    transaction.on_commit(partial(metrics.EVENTS.labels(changes[0].event.value).inc, len(changes)))


def _write(changes: Sequence[Change]) -> None:
    """The entries in both chains, and the receipts, of which each copy names the entry of its own chain."""
    links = [link.as_claims() for link in audit.append_all([entry for each in changes for entry in each.entries])]
    with audit.must_be_written():
        made = [
            receipts.signed(claims=each.receipt, request_pk=each.request.pk, entry=own, app_entry=of_app, at=each.at)
            for each, own, of_app in zip(changes, links[::2], links[1::2], strict=True)
            if each.receipt is not None
        ]
        insert_rows(Receipt, [{name: getattr(receipt, name) for name in _RECEIPT} for receipt in made])


def _defer(change: Change) -> None:
    """The same in `audit_pending`, until the chains take it."""
    person, app = change.entries
    audit.defer(**vars(person), request_pk=change.request.pk, receipt=change.receipt)
    audit.defer(**vars(app), request_pk=change.request.pk)


def _mark(change: Change) -> None:
    """On the row that changed, which the caller holds, for decisions/late_entries.py."""
    changed = change.request if change.grant is None else change.request.grant
    changed.record_waits = True
    changed.save(update_fields=["record_waits"])


def write_notices(requests: Sequence[ConsentRequest], event: EventType, at: datetime) -> None:
    """Tell the app of each, where apps are told of such an event."""
    notices = [NewNotice(each.app_id, each.pk, each.request_id) for each in requests if not each.withheld]
    if (kind := event.webhook_type) and notices:
        notify_apps(notices, kind=kind, at=at)
