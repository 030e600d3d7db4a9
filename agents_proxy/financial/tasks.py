"""What the worker does for linked institutions."""

import logging
from collections import defaultdict
from datetime import timedelta

from celery import shared_task
from django.db.models import Count, Q, QuerySet

from agents_proxy.financial import client, refreshes
from agents_proxy.financial import items as linked_items
from agents_proxy.financial.errors import AggregatorProblem
from agents_proxy.financial.models import Item, LinkSession
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.states import ItemStatus, LinkStatus, Purpose, Reach
from common.clock import database_now

_RETRY_AFTER = timedelta(minutes=1)  # before an access that could not be ended is tried once more
_log = logging.getLogger(__name__)


@shared_task(name="agents_proxy.tasks.refresh_item")
def refresh_item(run_pk: int) -> None:
    """Take in what changed at one institution."""
    refreshes.run_refresh(run_pk)


def is_due() -> bool:
    """Whether `maintain_institutions` would find anything to do, or to try again."""
    if not client.is_configured():
        return False
    refreshing = refreshes.abandoned_runs(limit=1) or refreshes.due_items(limit=1)
    return bool(refreshing or _expired().exists() or items_without_consent() or superseded())


def maintain_institutions() -> None:
    """Start refreshes that are due or abandoned, end items without consent or superseded, close expired visits."""
    if not client.is_configured():
        return
    for item in items_without_consent():
        withdraw_item(item)
    for item in superseded():
        end_superseded(item)
    for run_pk in refreshes.abandoned_runs():
        refresh_item.delay(run_pk)
    for item in refreshes.due_items():
        refreshes.start_refresh(item)
    for session_pk in _expired().values_list("pk", flat=True)[:200]:
        linked_items.end_link(session_pk, LinkStatus.EXPIRED)


def _expired() -> QuerySet[LinkSession]:
    return LinkSession.objects.filter(status=LinkStatus.OPEN, expires_at__lte=database_now())


def items_without_consent() -> list[Item]:
    """Items of people without a live consent to `financial`."""
    items = Item.objects.exclude(status=ItemStatus.REMOVED)
    live = ProcessingConsent.objects.filter(
        user__in=items.values("user"), user__is_active=True, reach=Reach.OWN, withdrawn_at=None,
        expires_at__gt=database_now(),
    )  # fmt: skip
    consenting = {user for user, purposes in live.values_list("user", "purposes") if Purpose.FINANCIAL in purposes}
    # the one tried longest ago first, so that an access that cannot be ended does not stand in another's way
    lost = [pk for pk, user in items.order_by("updated_at").values_list("pk", "user") if user not in consenting]
    return list(Item.objects.filter(pk__in=lost[:100]).order_by("updated_at"))


def superseded() -> list[Item]:
    """Items with a newer link to the same accounts, whose purchases would otherwise be counted twice."""
    items = Item.objects.exclude(Q(status=ItemStatus.REMOVED) | Q(institution=""))
    several = items.values("user", "institution").annotate(links=Count("pk")).filter(links__gt=1).order_by()
    of_one: dict[int, list[Item]] = defaultdict(list)
    for item in items.filter(user__in=several.values("user")):
        of_one[item.user_id].append(item)
    return [item for linked in of_one.values() for item in linked_items.superseded_items(linked)]


def end_superseded(item: Item) -> None:
    """End the older access at the aggregator, then forget it here; where the first fails, it is tried again later."""
    now = database_now()
    if item.updated_at > now - _RETRY_AFTER:
        return
    Item.objects.filter(pk=item.pk).update(updated_at=now)
    _end_access(item)


def withdraw_item(item: Item) -> None:
    """What was read goes at once; the access itself, once the aggregator ended it too."""
    now = database_now()
    if item.signals is None and item.updated_at > now - _RETRY_AFTER and item.cursor == "" and item.institution:
        return
    Item.objects.filter(pk=item.pk).exclude(status=ItemStatus.REMOVED).update(signals=None, cursor="", updated_at=now)
    _end_access(item)


def _end_access(item: Item) -> None:
    try:
        client.remove_item(linked_items.access_token(item))
    except AggregatorProblem as problem:
        _log.error("access of %s could not be ended at the aggregator: %s", item.item_id, problem.code)
        return
    linked_items.forget(item.pk)
