"""What every decision and every end leaves behind, in its own transaction: audit, receipt, notice.

What gives access happens only if all three are written. What ends or refuses it happens in any case
(consent/ledger/protection.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from common.sql.inserts import insert_rows
from consent.event_types import EventType
from consent.ledger import audit, receipts
from consent.ledger.models import Receipt
from consent.ledger.protection import commit_anyway
from consent.notices.outbox import NewNotice, notify_app, notify_apps
from consent.requests import receipt_claims
from consent.requests.models import ConsentRequest
from consent.requests.receipt_claims import GrantFacts
from consent.states import Actor

_RECEIPT = ("receipt_id", "request_id", "event", "jws", "app_jws", "created_at")


def record(
    *,
    request: ConsentRequest,
    grant: GrantFacts | None,
    event: EventType,
    actor: Actor,
    at: datetime,
    facts: dict[str, Any],
    to_app: dict[str, Any] | None = None,
    approval_sha256: str = "",
    happened: datetime | None = None,
    notify: bool = True,
) -> None:
    """Write the event to both chains, sign its receipt, and leave the notice that tells others.

    `at` is when it is written down; `happened`, where that was earlier, is what the receipt proves; `approval_sha256`
    is of what the person's vault signed, which the entry and the receipt bind. `to_app` are members of `facts` as the
    app is told them, which does not learn what one of the staff is called. Without `notify` the app knows already. The
    caller holds the request's or grant's row lock; the locks here follow in the one order: person's head, app's head,
    notice counter. Raises `AuditUnavailable`, but not for what protects a person.
    """
    receipt = _receipt_claims(request, grant, event, happened or at, at)
    signed = {"approval_sha256": approval_sha256} if approval_sha256 else {}
    if receipt:
        receipt.update(signed)
    known = {**_names(request, grant), **_held_by(request, grant, receipt), **facts, **signed}
    entry: dict[str, Any] = {"kind": event.value, "actor": actor.value, "at": at, "facts": known}
    if event.protects:
        about = request.request_id
        write, hold = partial(_write, request, entry, receipt, to_app), partial(_hold, request, entry, receipt, to_app)
        if not commit_anyway(write, otherwise=hold, what=f"the audit entry “{event}”", about=about):
            _mark(request, grant)
        if notify:
            commit_anyway(partial(_notify, request, event, at), what=f"the notice “{event}”", about=about)
        return
    _write(request, entry, receipt, to_app)
    if notify:
        _notify(request, event, at)


@dataclass(frozen=True)
class Ended:
    """A request or grant that the clock ended: what `record` is told of each."""

    request: ConsentRequest
    grant: GrantFacts | None
    happened: datetime
    facts: dict[str, Any]


def record_together(ended: Sequence[Ended], *, event: EventType, actor: Actor, at: datetime) -> None:
    """What `record` leaves behind of each, in the order given and in as many statements as of one.

    The caller holds all their rows, of which no two are of one request. All of it is written or nothing: raises
    whatever kept the database from it, also of what protects a person, and the caller then records one by one.
    """
    new: list[audit.NewEntry] = []
    claims: list[dict[str, Any] | None] = []
    for each in ended:
        receipt = _receipt_claims(each.request, each.grant, event, each.happened, at)
        claims.append(receipt)
        facts = {**_names(each.request, each.grant), **_held_by(each.request, each.grant, receipt), **each.facts}
        new += [
            audit.NewEntry(kind=event.value, actor=actor.value, at=at, **told) for told in _chains(each.request, facts)
        ]
    links = [link.as_claims() for link in audit.append_all(new)]  # of each the person's, then the app's
    with audit.must_be_written():
        made = [
            receipts.signed(claims=receipt, request_pk=each.request.pk, entry=own, app_entry=of_app, at=at)
            for each, receipt, own, of_app in zip(ended, claims, links[::2], links[1::2], strict=True)
            if receipt is not None
        ]
        insert_rows(Receipt, [{name: getattr(receipt, name) for name in _RECEIPT} for receipt in made])
    if kind := event.webhook_type:
        requests = [each.request for each in ended]
        notify_apps([NewNotice(asked.app_id, asked.pk, asked.request_id) for asked in requests], kind=kind, at=at)


def _write(
    request: ConsentRequest, entry: dict[str, Any], receipt: dict[str, Any] | None, to_app: dict[str, Any] | None
) -> None:
    """The entry in both chains, and the receipt, of which each copy names the entry of its own chain."""
    own, of_app = [audit.append(**{**entry, **told}).as_claims() for told in _chains(request, entry["facts"], to_app)]
    if receipt is not None:
        with audit.must_be_written():
            receipts.signed(claims=receipt, request_pk=request.pk, entry=own, app_entry=of_app, at=entry["at"]).save()


def _hold(
    request: ConsentRequest, entry: dict[str, Any], receipt: dict[str, Any] | None, to_app: dict[str, Any] | None
) -> None:
    """The same in `audit_pending`, until the chains take it."""
    person, app = _chains(request, entry["facts"], to_app)
    audit.hold(**{**entry, **person}, request_pk=request.pk, receipt=receipt)
    audit.hold(**{**entry, **app}, request_pk=request.pk)


def _mark(request: ConsentRequest, grant: GrantFacts | None) -> None:
    """On the row that changed, which the caller holds, for decisions/late_entries.py."""
    changed = request if grant is None else request.grant
    changed.record_waits = True
    changed.save(update_fields=["record_waits"])


def _chains(
    request: ConsentRequest, facts: dict[str, Any], to_app: dict[str, Any] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The person's chain and the app's, and what each is told: either has its own name for the person."""
    of_app = {**facts, **(to_app or {}), "user_id": request.pairwise_id}
    user_id = request.user.public_id
    return (
        {"chain": audit.person_chain(user_id), "facts": {**facts, "user_id": user_id}},
        {"chain": audit.app_chain(request.app.app_id), "facts": of_app},
    )


def _receipt_claims(
    request: ConsentRequest, grant: GrantFacts | None, event: EventType, happened: datetime, at: datetime
) -> dict[str, Any] | None:
    """None for an event that no receipt proves."""
    if not event.has_receipt:
        return None
    return receipt_claims.claims_about(
        request=request, grant=grant, event=event.value, happened=happened, at=at, receipt_id=receipts.new_receipt_id()
    )


def _held_by(request: ConsentRequest, grant: GrantFacts | None, receipt: dict[str, Any] | None) -> dict[str, Any]:
    """What the rows say now and the receipt will say: `verify_audit` compares them with it ever after."""
    return {
        "request_status": request.status,
        "grant": grant.as_facts() if grant else None,
        "receipt_id": receipt["receipt_id"] if receipt else None,
        "receipt_digest": receipts.digest_of(receipt) if receipt else None,
    }


def _names(request: ConsentRequest, grant: GrantFacts | None) -> dict[str, Any]:
    """What an entry is about, in both chains the same."""
    return {
        "request_id": request.request_id,
        "grant_id": grant.grant_id if grant else None,
        "app_id": request.app.app_id,
        "scope": request.scope,
        "request_digest": request.request_digest,
    }


def record_export_update(*, request: ConsentRequest, grant_id: str, at: datetime, facts: dict[str, Any]) -> None:
    """A continuous grant got a new revision: audited and told, without a receipt, since nothing ended."""
    event = EventType.EXPORT_UPDATED
    known = {
        "request_id": request.request_id,
        "grant_id": grant_id,
        "app_id": request.app.app_id,
        **facts,
    }
    for told in _chains(request, known):
        audit.append(kind=event.value, actor=Actor.PERSON.value, at=at, **told)
    _notify(request, event, at)


def _notify(request: ConsentRequest, event: EventType, at: datetime) -> None:
    kind = event.webhook_type
    if kind:
        notify_app(app_pk=request.app_id, request_pk=request.pk, request_id=request.request_id, kind=kind, at=at)
