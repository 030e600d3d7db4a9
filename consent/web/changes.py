"""What a request changes about the approval before it, in words: renewals mark what changed since last time."""

from dataclasses import dataclass

from django.utils.translation import gettext, ngettext

from common.clock import database_now
from common.durations import duration
from consent.decisions import queries as decision_queries
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest, RefreshPolicy


@dataclass(frozen=True)
class Before:
    """The newest approval of the same scope for the same app; `live` where approving again would replace it."""

    grant: Grant
    live: bool
    changes: list[str]


def before_of(asked: ConsentRequest) -> Before | None:
    """None where the person never approved this scope for this app."""
    grant = decision_queries.grant_before(asked)
    if grant is None:
        return None
    return Before(grant, grant.is_live(database_now()), list(_changes(asked, grant.request)))


def _changes(asked: ConsentRequest, then: ConsentRequest) -> list[str]:
    changes = []
    if asked.purpose != then.purpose:
        changes.append(gettext("The purpose changed. Before, it was: “%(words)s”") % {"words": then.purpose})
    if asked.access_duration != then.access_duration:
        changes.append(
            gettext("They ask for %(now)s; before, they asked for %(then)s.")
            % {"now": duration(asked.access_duration), "then": duration(then.access_duration)}
        )
    if asked.max_reads != then.max_reads:
        changes.append(
            gettext("How often it may be read changed: %(now)s. Before: %(then)s.")
            % {"now": _reads(asked.max_reads), "then": _reads(then.max_reads)}
        )
    if asked.refresh_policy != then.refresh_policy:
        changes.append(
            gettext("Now they want your later changes too; before, they got the values as they were.")
            if asked.refresh_policy == RefreshPolicy.CONTINUOUS
            else gettext("Now they want the values as they are; before, they got your later changes too.")
        )
    return changes


def _reads(most: int | None) -> str:
    if most is None:
        return gettext("without a limit")
    return ngettext("%(n)d read", "%(n)d reads", most) % {"n": most}
