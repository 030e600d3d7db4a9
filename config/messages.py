"""Messages between pages in a cookie that is this host's own under https, as the other cookies are."""

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage


class HostCookie(CookieStorage):
    """Django's signed cookie under the prefixed name, which has no setting of its own."""

    cookie_name = f"{settings.COOKIE_PREFIX}messages"


class Messages(FallbackStorage):
    """The cookie first, the session for what it cannot hold."""

    storage_classes = (HostCookie, SessionStorage)
