"""What apps were told, which is what webhooks deliver, against the rows: each number once, and each of its request.

A delivery's own row says when something was sent and how it was answered. It proves nothing that the receiver's server
would not know better, so nothing is compared with it.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from common.clock import database_now
from consent.ledger import audit
from consent.ledger.verifying import Broken
from consent.notices.models import Notice, NoticeCounter
from consent.notices.outbox import is_first
from consent.rules import SHORTEST_DAYS
from developers.app_events import ProcessingEvent

COLUMNS = (
    "pk", "sequence", "kind", "facts", "at", "app__app_id", "request__request_id", "request__pairwise_id",
    "request__scope", "request__app__app_id", "request__grant__grant_id", "request__user__erased_at",
    "request__grant__approved_attributes",
)  # fmt: skip


def verify_notices(page: list[dict[str, Any]], newest: dict[str, int], *, restored: bool) -> Iterator[Broken]:
    """`page` is by key, which is the order of each app's numbers; `newest` says where each app stands, and moves on.

    Only where something was `restored` an app's numbers may go on in another epoch. Up to the number to which an app's
    notices were kept long enough any may be gone, and none that is there is younger than that.
    """
    forgotten = dict(NoticeCounter.objects.exclude(forgotten=0).values_list("app__app_id", "forgotten"))
    kept_since = database_now() - timedelta(days=SHORTEST_DAYS)
    for notice in page:
        app_id, sequence = notice["app__app_id"], notice["sequence"]
        last, newest[app_id] = newest.get(app_id, 0), sequence
        goes_on = sequence == last + 1 or (restored and sequence > last and is_first(sequence))
        gone_to = forgotten.get(app_id, 0)
        went = last < sequence <= gone_to + 1
        if sequence <= gone_to and notice["at"] >= kept_since:
            yield Broken(
                audit.app_chain(app_id), 0, f"number {sequence} of what it was told is said to be old, and is not"
            )
        elif not (goes_on or went):
            yield Broken(audit.app_chain(app_id), 0, f"what the app was told goes from number {last} to {sequence}")
        elif notice["request__request_id"] is None:
            if notice["kind"] not in set(ProcessingEvent) or notice["facts"].get("sequence") != sequence:
                yield Broken(audit.app_chain(app_id), 0, f"number {sequence} of what it was told is of nothing")
        elif not _is_of_its_request(notice):
            request_id = notice["request__request_id"]
            yield Broken(audit.app_chain(app_id), 0, f"number {sequence} of what it was told is not of {request_id}")


def _is_of_its_request(notice: dict[str, Any]) -> bool:
    facts, grant = notice["facts"], notice["facts"].get("grant") or {}
    said = [facts.get(name) for name in ("request_id", "user_id", "scope", "sequence")]
    there = [
        notice["request__request_id"],
        notice["request__pairwise_id"],
        notice["request__scope"],
        notice["sequence"],
    ]
    if said != there or notice["app__app_id"] != notice["request__app__app_id"]:
        return False
    if notice["request__user__erased_at"] is not None or not grant:
        return True
    named = (grant.get("grant_id"), grant.get("approved_attributes"))
    return named == (notice["request__grant__grant_id"], notice["request__grant__approved_attributes"])


def notices_after(pk: int, size: int) -> list[dict[str, Any]]:
    return list(Notice.objects.filter(pk__gt=pk).order_by("pk").values(*COLUMNS)[:size])
