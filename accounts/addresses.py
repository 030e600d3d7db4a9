"""Where a call comes from."""

from django.conf import settings
from django.http import HttpRequest


def address_of(request: HttpRequest) -> str:
    """Who is at the other end: behind our own proxy, the last hop that it saw itself."""
    peer = str(request.META.get("REMOTE_ADDR", ""))
    if settings.USE_X_FORWARDED_PROTO:
        # what stands before the last hop is the caller's own word
        return request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip()[:64] or peer
    return peer
