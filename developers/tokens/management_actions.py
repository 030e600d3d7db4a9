"""What is done to management tokens, each of which is one person's own. Keyword-only, that person as `by=`."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts.models import User, WayChange
from accounts.security_changes import note_change
from common.problems import InvalidRequest
from developers.members.models import AppMember
from developers.tokens.actions import check_label
from developers.tokens.errors import AlreadyMade
from developers.tokens.format import LONGEST_MANAGEMENT_LIFETIME, new_prefix, new_token
from developers.tokens.models import ManagementPermission, ManagementToken
from developers.tokens.queries import live_management_tokens

EVERY_APP = "*"
MOST_MANAGEMENT_TOKENS = 20  # that live at one time


@transaction.atomic
def mint_management_token(
    *,
    label: str,
    by: User,
    permissions: dict[str, list[str]],
    lifetime: timedelta = LONGEST_MANAGEMENT_LIFETIME,
    prefix: str = "",
) -> tuple[ManagementToken, str]:
    """A new management token of `by`: its row, and the token itself, which is kept nowhere.

    `permissions` maps an `app_id` of theirs, or `*`, to what the token may do there; 90 days at most. With a `prefix`
    that was drawn before, a repetition makes no second token. Raises `InvalidRequest`, `AlreadyMade`.
    """
    check_label(label)
    _check_permissions(permissions, by)
    if not timedelta(0) < lifetime <= LONGEST_MANAGEMENT_LIFETIME:
        raise InvalidRequest(f"A management token lives for at most {LONGEST_MANAGEMENT_LIFETIME.days} days.")
    User.objects.select_for_update(no_key=True).get(pk=by.pk)  # two at once are counted one after the other
    if prefix and ManagementToken.objects.filter(prefix=prefix).exists():
        raise AlreadyMade
    if live_management_tokens(by).count() >= MOST_MANAGEMENT_TOKENS:
        raise InvalidRequest(f"Nobody has more than {MOST_MANAGEMENT_TOKENS} management tokens at one time.")
    token, prefix, digest = new_token("mgmt", prefix or new_prefix())
    row = ManagementToken.objects.create(
        user=by, prefix=prefix, digest=digest, label=label.strip(),
        permissions={app_id: sorted(set(allowed)) for app_id, allowed in permissions.items()},
        expires_at=timezone.now() + lifetime,
    )  # fmt: skip
    note_change(of=by, kind=WayChange.MANAGEMENT_TOKEN_MADE, detail=row.label)
    return row, token


def revoke_management_token(*, token: ManagementToken, by: User) -> bool:
    """End a token of `by` now; False where it had ended already, or is not theirs."""
    now = timezone.now()
    return bool(live_management_tokens(by).filter(pk=token.pk).update(revoked_at=now))


@transaction.atomic
def revoke_management_tokens(*, user: User, **_: object) -> None:
    """End all of them now: their person took back what others may have of their access. They are told by mail."""
    if live_management_tokens(user).update(revoked_at=timezone.now()):
        note_change(of=user, kind=WayChange.MANAGEMENT_TOKENS_REVOKED)


def _check_permissions(permissions: dict[str, list[str]], by: User) -> None:
    allowed = set(ManagementPermission.values)
    if not permissions or not all(names and set(names) <= allowed for names in permissions.values()):
        raise InvalidRequest(f"Permissions are one or more of {', '.join(ManagementPermission.values)}, for each app.")
    named = set(permissions) - {EVERY_APP}
    own = AppMember.objects.filter(user=by, app__app_id__in=named).count()
    if own != len(named):
        raise InvalidRequest("A management token names apps that you are a member of, or every one.")
