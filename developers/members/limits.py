"""How many people may be invited to an app, or added to it."""

from typing import TYPE_CHECKING

from django.conf import settings

from common.limits import Limit, count
from developers.apps.models import App
from developers.members.errors import TooManyInvitations

if TYPE_CHECKING:
    from accounts.models import User

_DAY = 86400  # seconds
_TO_ONE_PERSON = 5  # mails a day, whoever has them written


def count_invitation(*, app: App, by: "User", to: str) -> None:
    """Count one invitation of an app and of its member, to an address or a person. Raises `TooManyInvitations`.

    Before the transaction: a refusal must not undo its own count.
    """
    most = settings.INVITATIONS_PER_DAY
    for name, allowed, key in (
        ("invitations-by", most, by.public_id),
        ("invitations-app", most, app.app_id),
        ("invitations-to", _TO_ONE_PERSON if most else 0, to),
    ):
        count(Limit(name, allowed, _DAY), key).require(TooManyInvitations, "Invite them tomorrow.")
