"""Linked institutions: what is kept of them, and what their purchases say."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils.formats import date_format
from django.utils.translation import gettext

from accounts.models import User
from accounts.outbox import send_mail
from agents_proxy.financial import client, errors, transactions
from agents_proxy.financial.mapping import by_category, mapped, purchases
from agents_proxy.financial.models import Item, LinkSession, RefreshRun
from agents_proxy.financial.shapes import Owner
from agents_proxy.financial.transactions import Entry, Ledger
from agents_proxy.financial.words import NOTICES
from agents_proxy.processing_consent import actions as consents
from agents_proxy.proxy import callers
from agents_proxy.states import History, ItemStatus, LinkStatus, Purpose, RefreshStatus
from common import encryption
from common.clock import database_now, rfc3339

FIRST_COME_WITHIN = timedelta(minutes=10)  # of a link; an analysis waits no longer for them


@dataclass(frozen=True)
class ItemContent:
    """What is kept of an institution, opened."""

    ledger: Ledger
    accounts: list[dict[str, Any]]

    def sealed(self) -> str:
        return encryption.sealed(json.dumps({"ledger": transactions.written(self.ledger), "accounts": self.accounts}))


def content_of(item: Item) -> ItemContent:
    if item.signals is None:
        return ItemContent({}, [])
    kept = json.loads(encryption.opened(item.signals))
    return ItemContent(transactions.read(kept["ledger"]), kept["accounts"])


def require_consent(user: User, purpose: Purpose = Purpose.FINANCIAL) -> int:
    """The live consent's primary key; raises `AggregatorNotConfigured` or `FinancialConsentRequired`."""
    if not client.is_configured():
        raise errors.AggregatorNotConfigured()
    pk = consents.own(user, purpose)
    if pk is None:
        raise errors.FinancialConsentRequired(consent_url=callers.consent_url(purpose, None))
    return pk


def end_link(session_pk: int, status: LinkStatus, item: Item | None = None) -> None:
    LinkSession.objects.filter(pk=session_pk, status=LinkStatus.OPEN).update(
        status=status, item=item, link_token=None, finished_at=database_now()
    )


def own_item(user: User, item_id: str) -> Item:
    """Raises `UnknownItem`."""
    item = Item.objects.filter(user=user, item_id=item_id).exclude(status=ItemStatus.REMOVED).first()
    if item is None:
        raise errors.UnknownItem()
    return item


def remove_item(*, by: User, item_id: str) -> None:
    """End the access at the aggregator, then forget it here. Where the first fails nothing has changed."""
    item = own_item(by, item_id)
    client.remove_item(access_token(item))
    forget(item.pk)


def forget(item_pk: int) -> None:
    """Of a removed item only the row stays: neither its token nor what was read."""
    with transaction.atomic():
        Item.objects.filter(pk=item_pk).update(
            status=ItemStatus.REMOVED, access_token=None, signals=None, cursor="", ends_at=None,
            updated_at=database_now(),
        )  # fmt: skip
        end_refreshes(item_pk, "item_removed")


def forget_purchases(item_pk: int) -> None:
    """What was read goes, and what is being read just now is not kept; the next refresh begins anew."""
    with transaction.atomic():
        Item.objects.filter(pk=item_pk).update(signals=None, cursor="")
        end_refreshes(item_pk, errors.ChangedMeanwhile.code)


def end_refreshes(item_pk: int, error_code: str) -> None:
    RefreshRun.objects.filter(item=item_pk, status__in=[RefreshStatus.QUEUED, RefreshStatus.RUNNING]).update(
        status=RefreshStatus.FAILED, error_code=error_code, lease_until=None, finished_at=database_now()
    )


def note_problem(item_pk: int, problem: type[errors.AggregatorProblem] | None) -> None:
    """What one of the aggregator's refusals means for the item itself; its person is told where it needs them."""
    with transaction.atomic():
        item = Item.objects.select_for_update(of=("self",)).select_related("user").get(pk=item_pk)
        if problem is errors.LoginRequired and item.status == ItemStatus.ACTIVE:
            Item.objects.filter(pk=item_pk).update(status=ItemStatus.LOGIN_REQUIRED)
            mail_person(item, "login_required")
        if problem is errors.ItemRevoked and item.status != ItemStatus.REMOVED:
            forget(item_pk)
            mail_person(item, "revoked")


def mail_person(item: Item, what: str) -> None:
    """Leave a mail that says what became of an institution; a newer one takes its place while it was not sent yet."""
    name = item.institution

    def context() -> dict[str, Any]:
        ends_at = date_format(item.ends_at, "DATE_FORMAT") if item.ends_at else ""
        words = NOTICES[what] % {"name": name or gettext("Your institution"), "date": ends_at}
        return {"words": words, "again": what != "revoked"}

    send_mail("financial/mail/institution", to=item.user, context=context, key=f"institution {item.item_id}"[:64])


def access_token(item: Item) -> str:
    """Raises `UnknownItem` for an item that was removed meanwhile."""
    if item.access_token is None:
        raise errors.UnknownItem()
    return encryption.opened(item.access_token)


def identity_of(*, by: User, item_id: str) -> dict[str, Any]:
    """Who the institution says `by` is; read at this moment and kept nowhere. Needs a consent to `identity`."""
    require_consent(by)
    require_consent(by, Purpose.IDENTITY)
    found = client.identity(access_token(own_item(by, item_id)))
    owners = [owner for account in found.accounts for owner in account.owners]
    return {
        "names": _once(name for owner in owners for name in owner.names),
        "emails": _once(mail.data for owner in owners for mail in owner.emails),
        "phoneNumbers": _once(number.data for owner in owners for number in owner.phone_numbers),
        "addresses": _addresses(owners),
    }


def financial_signals(user: User) -> dict[str, Any]:
    """What a person's purchases say, in the brand-affinity fields; empty without a live consent to `financial`."""
    return mapped(_entries_of(user), database_now().date())


def are_purchases_coming(user: User) -> bool:
    """Whether an institution that was linked a moment ago may give its first purchases soon."""
    if not client.is_configured() or consents.own(user, Purpose.FINANCIAL) is None:
        return False
    new = Item.objects.filter(user=user, status=ItemStatus.ACTIVE, created_at__gt=database_now() - FIRST_COME_WITHIN)
    return new.filter(history=History.NOT_READY).exists()


def purchases_by_category(user: User) -> list[tuple[str, int]]:
    """What a person bought and how often, the most frequent first; empty without a live consent to `financial`."""
    return by_category(_entries_of(user), database_now().date())


def _entries_of(user: User) -> list[Entry]:
    if not client.is_configured() or consents.own(user, Purpose.FINANCIAL) is None:
        return []
    items = list(Item.objects.filter(user=user).exclude(status=ItemStatus.REMOVED))
    twice = superseded_items(items)
    return [entry for item in items if item not in twice for entry in content_of(item).ledger.values()]


def superseded_items(items: Iterable[Item]) -> list[Item]:
    """Of one person's items, those whose accounts are all covered by a later link to the same institution."""
    found: list[Item] = []
    later: list[tuple[str, set[str]]] = []
    for item in sorted(items, key=lambda item: item.pk, reverse=True):
        accounts = {json.dumps(account, sort_keys=True) for account in content_of(item).accounts}
        if accounts and any(item.institution == name and accounts <= others for name, others in later):
            found.append(item)
        elif item.status == ItemStatus.ACTIVE:
            later.append((item.institution, accounts))
    return found


def items_of(user: User) -> list[dict[str, Any]]:
    """A person's linked institutions, newest first, each with its latest refresh."""
    latest = _latest_refreshes(user)
    items = Item.objects.filter(user=user).exclude(status=ItemStatus.REMOVED)
    return [_body(item, latest.get(item.pk)) for item in items]


def item_of(user: User, item_id: str) -> dict[str, Any]:
    """The same of one; raises `UnknownItem`."""
    latest = _latest_refreshes(user)
    item = own_item(user, item_id)
    return _body(item, latest.get(item.pk))


def _latest_refreshes(user: User) -> dict[int, RefreshRun]:
    """By item. Read before the items: a refresh that is told as completed has its purchases there then."""
    runs = RefreshRun.objects.filter(item__user=user)
    newest = runs.order_by().values("item").annotate(newest=Max("pk")).values("newest")
    return {run.item_id: run for run in runs.filter(pk__in=newest)}


def _body(item: Item, latest: RefreshRun | None) -> dict[str, Any]:
    known = content_of(item)
    return {
        "itemId": item.item_id,
        "institution": item.institution or None,
        "status": item.status,
        "history": item.history,
        "endsAt": rfc3339(item.ends_at),
        "linkedAt": rfc3339(item.created_at),
        "accounts": known.accounts,
        "transactions": purchases(known.ledger.values(), database_now().date()),
        "refresh": refresh_body(latest) if latest else None,
    }


def refresh_body(run: RefreshRun) -> dict[str, Any]:
    return {
        "status": run.status,
        "pages": run.pages,
        "added": run.added,
        "modified": run.modified,
        "removed": run.removed,
        "errorCode": run.error_code or None,
        "startedAt": rfc3339(run.started_at),
        "finishedAt": rfc3339(run.finished_at),
    }


def _once(texts: Any) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))


def _addresses(owners: list[Owner]) -> list[dict[str, str]]:
    addresses = [
        {name: value for name, value in address.data.items() if value}
        for owner in owners
        for address in owner.addresses
    ]
    return [address for position, address in enumerate(addresses) if address and address not in addresses[:position]]
