"""Mail to the members of an app about a token that ends soon."""

from datetime import timedelta
from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from accounts.models import User
from accounts.outbox import Gathering, send_mail
from common.clock import in_mail
from developers.apps.models import AppStatus
from developers.tokens.models import DeveloperToken

REMINDERS = (2, 14)  # days before the end, the last first: who gets that one needs no other
_BATCH = 100


def members_of(token: DeveloperToken) -> "QuerySet[User]":
    people = User.objects.filter(app_memberships__app=token.app_id, is_active=True)
    return people.order_by("pk")


def _due() -> list[tuple[int, int]]:
    """Keys, and how many days are left."""
    return [(pk, days) for days in REMINDERS for pk in _ending(days).values_list("pk", flat=True)[:_BATCH]]


def _ending(days: int) -> QuerySet[DeveloperToken]:
    """Tokens that nobody rotated or revoked and whose end is so near, unless they were made for less."""
    now = timezone.now()
    near = DeveloperToken.objects.filter(
        _unreminded(days),
        client=None,
        revoked_at=None,
        expires_at__gt=now,
        expires_at__lte=now + timedelta(days=days),
        created_at__lt=F("expires_at") - timedelta(days=days),
    )
    return near.exclude(app__status=AppStatus.CLOSED).order_by("expires_at")


def _unreminded(days: int) -> Q:
    return Q(reminded_days=None) | Q(reminded_days__gt=days)


def _queue(due: tuple[int, int]) -> None:
    pk, days = due
    # of the token's own columns alone: PostgreSQL does not ask a subquery again after it waited for another claim
    claim = DeveloperToken.objects.filter(_unreminded(days), pk=pk, revoked_at=None)
    if not claim.update(reminded_days=days):
        return
    token = DeveloperToken.objects.select_related("app").get(pk=pk)

    def context() -> dict[str, Any]:
        return {"token": token, "until": in_mail(token.expires_at)}

    for person in members_of(token):
        send_mail("developers/mail/token_ends", to=person, context=context, wake=False)


GATHERING = Gathering(_due, _queue)
