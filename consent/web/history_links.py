"""The addresses on the page of the history: kinds, days, files, older and newer."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext

from accounts.models import User
from consent.event_types import GROUP_LABELS, Group
from consent.web import history
from consent.web.history_filter import Chosen


@dataclass(frozen=True)
class Link:
    """A choice on the page."""

    label: str
    url: str
    current: bool = False


def links(user: User, chosen: Chosen, page: history.HistoryPage, now: datetime) -> dict[str, Any]:
    """What of the page depends on the choices; two queries."""
    today = now.astimezone(chosen.zone).date()
    monday = today - timedelta(days=today.weekday() + 7)  # of last week, as ISO 8601 counts
    week = Chosen(Group.READS, since=monday, until=monday + timedelta(days=6), zone=chosen.zone)
    return {
        "chosen": chosen,
        "kinds": [
            Link(str(label), _address(chosen, kind=group), group == chosen.group)
            for group, label in [("", gettext("All")), *GROUP_LABELS.items()]
        ],
        "presets": [
            Link(label, _address(chosen, since=since, until=until), (since, until) == (chosen.since, chosen.until))
            for label, since, until in _presets(today, monday)
        ],
        "files": [
            Link(name, f"{reverse('consent:history-file')}{_address(chosen, format=name.lower())}")
            for name in ("JSON", "CSV")
        ],
        "older_url": _address(chosen, older=page.older) if page.older else "",
        "newest_url": "" if page.is_newest else _address(chosen),
        "week_url": _address(week),
        "week_reads": history.reads_between(user, *_span(week)),
    }


def _presets(today: date, monday: date) -> list[tuple[str, date | None, date | None]]:
    return [
        (gettext("Any time"), None, None),
        (gettext("This week"), monday + timedelta(days=7), today),
        (gettext("Last week"), monday, monday + timedelta(days=6)),
        (gettext("Last 30 days"), today - timedelta(days=29), today),
    ]


def _span(week: Chosen) -> Any:
    return week.begins, week.ends


def _address(chosen: Chosen, **changes: object) -> str:
    kept = {
        "kind": chosen.group, "app": chosen.app_id, "since": chosen.since, "until": chosen.until, "q": chosen.text,
    }  # fmt: skip
    members = {name: str(value) for name, value in {**kept, **changes}.items() if value}
    return "?" + urlencode(members)
