"""What a request changes about the approval before it, in words: renewals mark what changed since last time."""

from dataclasses import dataclass

from django.utils.translation import gettext, ngettext

from accounts.database import database_now
from consent import queries
from consent.models import ConsentRequest, Grant, RefreshPolicy
from consent.states import LIVE_GRANTS
from consent.web.words import duration


@dataclass(frozen=True)
class Before:
    """The newest approval of the same scope for the same app; `live` where approving again would replace it."""

    grant: Grant
    live: bool
    changes: list[str]


def before_of(asked: ConsentRequest) -> Before | None:
    """None where the person never approved this scope for this app."""
    grant = queries.grant_before(asked)
    if grant is None:
        return None
    live = grant.status in LIVE_GRANTS and grant.expires_at > database_now()
    return Before(grant, live, list(_changes(asked, grant.request)))


def _changes(asked: ConsentRequest, then: ConsentRequest) -> list[str]:
    told = []
    if asked.purpose != then.purpose:
        told.append(gettext("The purpose changed. Before, it was: “%(words)s”") % {"words": then.purpose})
    if asked.access_duration != then.access_duration:
        told.append(
            gettext("They ask for %(now)s; before, they asked for %(then)s.")
            % {"now": duration(asked.access_duration), "then": duration(then.access_duration)}
        )
    if asked.max_reads != then.max_reads:
        told.append(
            gettext("How often it may be read changed: %(now)s. Before: %(then)s.")
            % {"now": _reads(asked.max_reads), "then": _reads(then.max_reads)}
        )
    if asked.refresh_policy != then.refresh_policy:
        told.append(
            gettext("Now they want your later changes too; before, they got the values as they were.")
            if asked.refresh_policy == RefreshPolicy.CONTINUOUS
            else gettext("Now they want the values as they are; before, they got your later changes too.")
        )
    return told


def _reads(most: int | None) -> str:
    if most is None:
        return gettext("without a limit")
    return ngettext("%(n)d read", "%(n)d reads", most) % {"n": most}
