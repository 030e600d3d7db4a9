"""What of the account itself is destroyed, and what of its row stays."""

# ruff: noqa: S608  # the statements are of our own names
import base64
from typing import Any

from django.utils.translation import gettext as _

from accounts.alerts import push
from accounts.alerts.settings import as_export
from accounts.hooks import RoomErasure
from accounts.models import ActorProfile, Erasure, MarketplacePublicProfile, ReleasedHandle, User
from accounts.name_and_photo.actions import photo_of
from accounts.outbox import send_mail
from accounts.public_profile.handles import erased_handle
from common.clock import database_now
from common.sql.erasing import PersonalRows
from common.text import StrOrPromise

_EMAIL = "SELECT 1 FROM users u WHERE u.id = :person AND {has|%s|u.email}"
_GONE = "destroyed"
_TABLES = (
    "actor_profiles", "marketplace_public_profiles", "runtime_persona_state", "sessions", "mfa_authenticator",
    "users_groups", "users_user_permissions", "security_changes", "sharing_ids", "user_photos", "outgoing_mails",
    "alert_settings", "push_subscriptions",
)  # fmt: skip

ROWS = PersonalRows(
    name="erase_account_rows",
    unsampled={
        "alert_settings": ("phrase",),
        "account_emailaddress": ("email",),
        "account_emailconfirmation": ("key",),
        "django_admin_log": ("object_repr", "change_message"),
        "marketplace_public_profiles": ("handle", "display_name", "search_name", "headline", "location_hint"),
        "mfa_authenticator": ("data",),
        "outgoing_mails": ("sealed",),
        "outgoing_pushes": ("sealed",),
        "push_subscriptions": ("sealed", "user_agent"),
        "released_handles": ("handle",),
        "security_changes": ("address", "detail"),
        "sessions": ("data",),
        "sharing_ids": ("sealed",),
        "user_photos": ("webp",),
        "users": ("email", "display_name"),
        "users_email_caseless": ("lower",),
    },
    statements=(
        # staff's notes on other records stay; what they say of this account goes
        "UPDATE django_admin_log SET object_repr = '', change_message = '' WHERE "
        "(object_id = CAST(:person AS text) AND content_type_id IN "
        "(SELECT id FROM django_content_type WHERE app_label = 'accounts' AND model = 'user')) "
        f"OR EXISTS ({_EMAIL % 'django_admin_log.object_repr'}) "
        f"OR EXISTS ({_EMAIL % 'django_admin_log.change_message'})",
        "DELETE FROM account_emailconfirmation WHERE email_address_id IN "
        "(SELECT id FROM account_emailaddress WHERE user_id = :person)",
        "DELETE FROM account_emailaddress WHERE user_id = :person",
        "DELETE FROM released_handles WHERE user_id = :person AND substr(handle, 1, 1) <> '#'",
        "DELETE FROM outgoing_pushes WHERE subscription_id IN "
        "(SELECT id FROM push_subscriptions WHERE user_id = :person)",
        *(f"DELETE FROM {table} WHERE user_id = :person" for table in _TABLES),
        "UPDATE users SET email = :user_id || '@erased.invalid', display_name = '', password = '!', language = '', "
        "photo_digest = '', is_active = false, is_staff = false, is_superuser = false, last_login = NULL, "
        "leaves_at = NULL, erased_at = CURRENT_TIMESTAMP WHERE id = :person",
    ),
)
TABLES = {
    **dict.fromkeys((*_TABLES, "account_emailaddress", "account_emailconfirmation", "outgoing_pushes"), _GONE),
    "users": "stays, anonymous: the own ID, and when it was erased",
    "erasures": "stays: when an anonymous account was to go, and went",
    "released_handles": "stays as a hash for 90 days, so that nobody passes for them",
    "django_admin_log": "stays, without what it says of this account",
}


def obstacles(user: User) -> list[StrOrPromise]:
    """Staff are let go by other staff first: their acts need somebody who answers for them."""
    if user.is_staff:
        return [_("You are a member of staff. Ask another one to take that away first.")]
    return []


def outcomes(user: User) -> list[StrOrPromise]:
    """What the page tells before anybody confirms."""
    return [
        _("Your address, name, photo, sign-in, public profile and settings are deleted."),
        _("Backups are kept for a while. What one brings back is erased again."),
    ]


def reserve_handles(erasure: Erasure) -> None:
    """Their handles go on resting, so that nobody can read them."""
    released = ReleasedHandle.objects.filter(user=erasure.user_id).exclude(handle__startswith="#")
    resting = dict(released.values_list("handle", "released_at"))
    profile = MarketplacePublicProfile.objects.filter(user=erasure.user_id, handle__isnull=False).first()
    if profile is not None and profile.handle is not None:
        resting[profile.handle] = database_now()
    for handle, at in resting.items():
        ReleasedHandle.objects.update_or_create(
            handle=erased_handle(handle), defaults={"user_id": erasure.user_id, "released_at": at}
        )


def before_rows(erasure: Erasure) -> None:
    """What the rows that go are still needed for."""
    user = erasure.user
    if user.erased_at is None:
        context = {"done_at": database_now()}
        send_mail("account_security/mail/erased", to=user, context=context, outlives_account=True)
    reserve_handles(erasure)


def export(user: User) -> dict[str, Any]:
    """The account, and what was chosen to be shown."""
    from allauth.account.models import EmailAddress
    from allauth.mfa.models import Authenticator

    profile = MarketplacePublicProfile.objects.filter(user=user)
    return {
        "user_id": user.public_id,
        "email": user.email,
        "display_name": user.display_name,
        "photo": base64.b64encode(photo_of(user) or b"").decode(),
        "language": user.language,
        "created_at": user.created_at,
        "last_login": user.last_login,
        "addresses": list(EmailAddress.objects.filter(user=user).values("email", "verified", "primary")),
        "second_factors": list(Authenticator.objects.filter(user=user).values("type", "created_at", "last_used_at")),
        "sessions": list(user.sessions.values("created_at", "expires_at")),
        "public_profile": list(
            profile.values("handle", "display_name", "headline", "location_hint", "is_discoverable")
        ),
        "settings": list(
            ActorProfile.objects.filter(user=user).values("unused_days", "visited_at", "visited_before_at")
        ),
        "released_handles": list(user.released_handles.values("handle", "released_at")),
        "alerts": as_export(user),
        "told_browsers": list(push.subscriptions_of(user).values("user_agent", "made_at")),
        "erasures": list(user.erasures.values("asked_by", "asked_at", "due_at", "cancelled_at")),
    }


ROOM = RoomErasure(
    name="account",
    order=90,
    rows=ROWS,
    tables=TABLES,
    outcomes=outcomes,
    obstacles=obstacles,
    before_rows=before_rows,
    export=export,
)
