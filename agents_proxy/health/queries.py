"""How the agents did lately, out of the calls and the steps of analyses. Nothing here reads a prompt or an answer."""

import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents_proxy.agents import AGENTS, Agent, Protocol, upstream_of
from agents_proxy.analyses.models import Step
from agents_proxy.proxy.models import Call
from agents_proxy.states import CallOutcome, StepStatus
from common.text import StrOrPromise

SAMPLE = 1000  # calls, the newest that were answered, that say how long an agent takes
PERIODS: dict[str, tuple[StrOrPromise, timedelta]] = {
    "hour": (_("Last hour"), timedelta(hours=1)),
    "day": (_("Last 24 hours"), timedelta(days=1)),
    "week": (_("Last 7 days"), timedelta(days=7)),
}
FAILURES = tuple(outcome for outcome in CallOutcome if outcome is not CallOutcome.ANSWERED)
# of an answer that came, and that no analysis could read (contract 4.3, "Reading a reply")
_UNREADABLE = ("no_text", "not_json", "not_an_object", "too_deep")


@dataclass(frozen=True)
class Share:
    """So many of the calls of a period; `percent` is None where there were no calls."""

    count: int
    percent: float | None


@dataclass(frozen=True)
class Figures:
    """The calls of one agent in one period: all, those that failed, and these by outcome in the order of `FAILURES`."""

    label: StrOrPromise
    calls: int
    failed: Share
    by_outcome: tuple[Share, ...]


@dataclass(frozen=True)
class Health:
    """One agent of this deployment. Durations are milliseconds, None without a call that was answered in seven days;
    so are the last times. `unreadable` counts the steps of analyses that failed since nothing could be read.
    """

    agent: Agent
    protocol: Protocol | None  # None where this deployment does not reach it
    figures: tuple[Figures, ...]
    median_ms: int | None
    p99_ms: int | None
    last_success: datetime | None
    last_failure: datetime | None
    unreadable: int


def health_of_agents() -> list[Health]:
    """Every agent, in the order of `AGENTS`; two queries, and one for each agent."""
    now = timezone.now()
    counted, unreadable = _counted(now), _unreadable(now)
    return [
        _health(agent, counted.get(agent.name, {}), unreadable.get(agent.name, 0), now) for agent in AGENTS.values()
    ]


def _health(agent: Agent, counted: Mapping[str, dict[str, Any]], unreadable: int, now: datetime) -> Health:
    upstream, durations = upstream_of(agent.name), _durations(agent.name, now)
    failures = [row["latest"] for outcome, row in counted.items() if outcome != CallOutcome.ANSWERED]
    return Health(
        agent=agent,
        protocol=upstream.protocol if upstream else None,
        figures=tuple(_figures(counted)),
        median_ms=statistics.median_low(durations) if durations else None,
        p99_ms=durations[-(-len(durations) * 99 // 100) - 1] if durations else None,  # the nearest rank
        last_success=counted.get(CallOutcome.ANSWERED, {}).get("latest"),
        last_failure=max(failures, default=None),
        unreadable=unreadable,
    )


def _figures(counted: Mapping[str, dict[str, Any]]) -> Iterator[Figures]:
    for period, (label, _length) in PERIODS.items():
        calls = sum(row[period] for row in counted.values())
        failed = [counted.get(outcome, {}).get(period, 0) for outcome in FAILURES]
        yield Figures(label, calls, _share(sum(failed), calls), tuple(_share(count, calls) for count in failed))


def _share(count: int, calls: int) -> Share:
    return Share(count, 100 * count / calls if calls else None)


def _counted(now: datetime) -> dict[str, dict[str, dict[str, Any]]]:
    """Agent to outcome to the calls of each period and the time of the latest, of the longest period alone."""
    periods = {
        name: Count("started_at", filter=Q(started_at__gt=now - length)) for name, (_label, length) in PERIODS.items()
    }
    recent = Call.objects.filter(agent__in=AGENTS, started_at__gt=now - PERIODS["week"][1])
    counted: dict[str, dict[str, dict[str, Any]]] = {}
    rows: Iterable[Any] = recent.order_by().values("agent", "outcome").annotate(latest=Max("started_at"), **periods)
    for row in rows:
        counted.setdefault(row["agent"], {})[row["outcome"]] = row
    return counted


def _durations(agent: str, now: datetime) -> list[int]:
    """Of the newest calls that were answered within seven days, shortest first."""
    answered = Call.objects.filter(agent=agent, outcome=CallOutcome.ANSWERED)
    recent = answered.filter(started_at__gt=now - PERIODS["week"][1]).order_by("-started_at")
    return sorted(recent.values_list("duration_ms", flat=True)[:SAMPLE])


def _unreadable(now: datetime) -> dict[str, int]:
    failed = Step.objects.filter(status=StepStatus.FAILED, finished_at__gt=now - PERIODS["week"][1])
    rows = failed.filter(error_code__in=_UNREADABLE).order_by().values("agent").annotate(count=Count("*"))
    return {row["agent"]: row["count"] for row in rows}
