"""Noting that a way in changed, so that its person is told by mail."""

from accounts.identifiers import is_sandbox_address
from accounts.models import SecurityChange, User, WayChange


def note_change(*, of: User, kind: WayChange, detail: str = "", address: str = "") -> None:
    """Leave a row for the mail, in the caller's transaction; the mail server is not asked here.

    `detail` is as in `SecurityChange`; `address` is where to tell it, if not where the account is now.
    """
    recipient = address or of.email
    if not is_sandbox_address(recipient):
        SecurityChange.objects.create(user=of, kind=kind, address=recipient, detail=detail)
