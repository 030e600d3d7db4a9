"""What a person is shown of their sharing ID."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from accounts.models import SharingId
from common import encryption
from common.clock import database_now

if TYPE_CHECKING:
    from accounts.models import User


@dataclass(frozen=True)
class ShownSharingId:
    """The invitation as its person sees it. `app_name` is whom it serves, "" while it is still open to any one app."""

    sharing_id: str
    expires_at: datetime
    app_name: str
    is_over: bool


def sharing_id_of(user: "User") -> ShownSharingId | None:
    """None where they gave out none, switched it off, or it was kept under a key that this server lost."""
    row = SharingId.objects.select_related("app").filter(user=user).first()
    if row is None:
        return None
    try:
        sharing_id = encryption.opened(row.sealed)
    except encryption.Unreadable:
        return None
    app_name = row.app.name if row.app else ""
    return ShownSharingId(sharing_id, row.expires_at, app_name, row.expires_at <= database_now())
