"""What every page shows of what waits."""

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from consent.requests.queries import count_pending


def pending_count(request: HttpRequest) -> dict[str, object]:
    """The number of requests that wait for this person's decision, counted only where a template asks."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {"pending_count": 0}
    return {"pending_count": SimpleLazyObject(lambda: count_pending(user=user))}
