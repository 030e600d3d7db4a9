"""Sessions by the digest of their key: the cookie holds the key, the row its SHA-256 and the content, sealed.

A copy of the database therefore holds nothing that a cookie could be made of, and nothing of what a sign-in that is
under way keeps in its session: the secret of an authenticator app that is being set up, the key of a password reset.
"""

import hashlib
import logging
import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase, UpdateError
from django.db import IntegrityError
from django.db.models import Q
from django.utils import timezone

from accounts.models import Session
from common.encryption import DecryptionFailed, opened, sealed

_log = logging.getLogger(__name__)


def digest(session_key: str) -> str:
    """What a session is kept under. The key is 32 random bytes, so its digest needs no salt and no slow hash."""
    return hashlib.sha256(session_key.encode(errors="surrogatepass")).hexdigest()


def lasting() -> Q:
    """The sessions that have not ended: used lately enough, and begun lately enough however much they are used."""
    now = timezone.now()
    return Q(expires_at__gt=now, created_at__gt=now - timedelta(seconds=settings.SESSION_LONGEST))


class SessionStore(SessionBase):
    """Django's session engine over `Session` (settings.SESSION_ENGINE)."""

    def exists(self, session_key: str) -> bool:
        return Session.objects.filter(digest=digest(session_key)).exists()

    def create(self) -> None:
        self._session_key = secrets.token_urlsafe(32)
        self.save(must_create=True)
        self.modified = True

    def save(self, must_create: bool = False) -> None:
        if self.session_key is None:
            return self.create()
        data = self._get_session(no_load=must_create)  # type: ignore[attr-defined]  # the stubs leave it out
        row = {"data": self.encode(data), "expires_at": self.get_expiry_date(), "user_id": data.get(SESSION_KEY)}
        kept = digest(self.session_key)
        if must_create:
            Session.objects.create(digest=kept, **row)
            return None
        try:
            found = Session.objects.filter(digest=kept).update(**row)
        except IntegrityError as error:  # the account was erased meanwhile
            raise UpdateError from error
        if not found:
            raise UpdateError
        return None

    def delete(self, session_key: str | None = None) -> None:
        session_key = session_key or self.session_key
        if session_key:
            Session.objects.filter(digest=digest(session_key)).delete()

    def load(self) -> dict[str, Any]:
        kept = Session.objects.filter(lasting(), digest=digest(self.session_key or ""))
        for data in kept.values_list("data", flat=True):
            return self.decode(data)
        self._session_key = None  # a key that nobody was given is never taken on
        return {}

    def encode(self, session_dict: dict[str, Any]) -> str:
        return sealed(self.serializer().dumps(session_dict).decode("latin-1"))

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """Empty, and so signed out, where none of the server's keys opens it any more."""
        try:
            found: dict[str, Any] = self.serializer().loads(opened(str(session_data)).encode("latin-1"))
        except DecryptionFailed as error:
            _log.warning("A session cannot be opened: %s", error)
            return {}
        return found

    @classmethod
    def clear_expired(cls) -> int:  # type: ignore[override]  # how many, for the task that calls it
        return Session.objects.filter(expires_at__lt=timezone.now()).delete()[0]
