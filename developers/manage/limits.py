"""How many management calls one person may make in an hour, with all their tokens together (contract 1.3)."""

from django.conf import settings

from common.limits import Count, Limit, count
from developers.manage.authentication import Manager

_HOUR = 3600  # seconds


def count_call(manager: Manager) -> Count:
    """Count one call; what is refused counts too."""
    return count(_limit(), manager.user.public_id)


def look(manager: Manager) -> Count:
    """Where the person stands, without counting."""
    return count(_limit(), manager.user.public_id, amount=0)


def _limit() -> Limit:
    return Limit("management-calls", settings.MANAGEMENT_CALLS_PER_HOUR, _HOUR)
