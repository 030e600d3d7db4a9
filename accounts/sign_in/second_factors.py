"""Second factors: their secrets sealed at rest, and whether a session has shown one."""

import time
from typing import Any

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.core.cache import cache
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import User, WayChange
from accounts.security_changes import note_change
from common.encryption import opened, resealed, sealed

# Passkeys keep public keys alone, which open nothing. Lists hold one secret each.
_SECRET_MEMBERS = {"secret", "seed", "migrated_codes"}

_UNPROVEN = "confirmed_elsewhere"  # a member of an authenticator's `data`

_PERIOD = 30  # seconds that a code of an authenticator app stands for


class SealedSecrets(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no types
    """What allauth keeps of an authenticator app or of recovery codes, encrypted under DATA_ENCRYPTION_KEYS."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "cannot_delete_authenticator": _("Nothing else signs you in. First set a password or add another passkey."),
    }

    def encrypt(self, text: str) -> str:
        return sealed(text)

    def decrypt(self, encrypted_text: str) -> str:
        return opened(encrypted_text)

    def get_public_key_credential_user_entity(self, user: User) -> dict[str, Any]:
        """A passkey names the account by its own ID, which exists before the row does and says nothing about it."""
        return {"id": user.public_id.encode(), "display_name": user.get_short_name(), "name": user.email}

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        """Without a password it takes a passkey to sign in and to show that it is them; one stays."""
        from allauth.mfa.models import Authenticator

        user = authenticator.user
        passkeys = Authenticator.objects.filter(user=user, type="webauthn")
        return bool(user.has_usable_password()) or passkeys.exclude(pk=authenticator.pk).exists()


def reseal_secrets(authenticators: QuerySet[Any]) -> int:
    """Bring every secret under the newest key; how many rows changed.

    Within a transaction: the rows are locked, since a recovery code that is used meanwhile changes its row too.
    """
    changed = 0
    for row in authenticators.select_for_update():
        data = dict(row.data)
        for name in _SECRET_MEMBERS & data.keys():
            secret = data[name]
            data[name] = [resealed(one) for one in secret] if isinstance(secret, list) else resealed(secret)
        if data != row.data:
            changed += authenticators.filter(pk=row.pk).update(data=data)
    return changed


def secrets_of(data: dict[str, Any]) -> list[str]:
    """The secrets in the `data` of an authenticator, as they are kept."""
    kept = [data[name] for name in sorted(_SECRET_MEMBERS & data.keys())]
    return [one for secret in kept for one in (secret if isinstance(secret, list) else [secret])]


def has_second_factor(user: User) -> bool:
    """Whether an authenticator app or a passkey is active. Recovery codes alone are none: they come with one."""
    return bool(SealedSecrets().is_mfa_enabled(user, ["totp", "webauthn"]))


def has_authenticator_app(user: User) -> bool:
    return bool(SealedSecrets().is_mfa_enabled(user, ["totp"]))


def take_code(user: User, secret: str, code: str) -> bool:
    """Whether an authenticator app showed `code` in this half minute or in the one before; each is taken once.

    allauth's own tolerance goes a step into the future as well, and it forgets after half a minute what was used.
    """
    from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value

    now = int(time.time()) // _PERIOD
    for step in (now, now - 1):
        shown = format_hotp_value(hotp_value(secret, step))
        if compare_user_code(actual=code, expected=shown):
            return cache.add(f"totp-taken:{user.pk}:{shown}", 1, timeout=3 * _PERIOD)
    return False


def turn_on(*, request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    """A factor was added: this session has just shown it, and those from before it, which never did, end."""
    from allauth.mfa.base.internal.flows import post_authentication

    from accounts.sign_in.browsers import sign_out_elsewhere

    if authenticator.type == "recovery_codes" or request.user != user:  # who signs up is not signed in yet
        return
    post_authentication(request, authenticator, reauthenticated=True)
    sign_out_elsewhere(user, here=request.session.session_key)
    messages.info(request, gettext("You are signed out everywhere else."))


def count_new_codes(*, request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    """Recovery codes were made anew: a code of the old ones that this session showed counts as one of theirs.

    Otherwise whoever confirmed by one could not look at the new ones, and the old ones are void.
    """
    from allauth.account.authentication import get_authentication_records

    for record in get_authentication_records(request, user):
        if record.get("type") == authenticator.type:
            record["id"] = authenticator.pk
            request.session.modified = True


def has_one_passkey_alone(user: User) -> bool:
    """Whether losing one device would end their way into the account: no password, no second passkey, no codes."""
    from allauth.mfa.models import Authenticator

    if user.has_usable_password():
        return False
    return list(Authenticator.objects.filter(user_id=user.pk).values_list("type", flat=True)) == ["webauthn"]


def seconds_since_second_factor(request: HttpRequest) -> float | None:
    """How long ago this session showed a second factor that is still active, None where it did not.

    A recovery code counts: it stands in for a lost device. What was shown and removed since counts no more.
    """
    from allauth.account.authentication import get_authentication_records
    from allauth.mfa.models import Authenticator

    records = [record for record in get_authentication_records(request, request.user) if record["method"] == "mfa"]
    if not records:
        return None
    active = set(Authenticator.objects.filter(user_id=request.user.pk).values_list("pk", flat=True))
    shown = [float(record["at"]) for record in records if record.get("id") in active]
    return time.time() - max(shown) if shown else None


def showed_second_factor_recently(request: HttpRequest) -> bool:
    """Within the last ten minutes, for what a stolen session must not be enough for."""
    seconds = seconds_since_second_factor(request)
    return seconds is not None and seconds < settings.ACCOUNT_REAUTHENTICATION_TIMEOUT


def mark_unproven(user: User) -> None:
    """The account's address was confirmed in another browser than its passkey was made in, maybe by somebody else."""
    from allauth.mfa.models import Authenticator

    for authenticator in Authenticator.objects.filter(user_id=user.pk):
        authenticator.data[_UNPROVEN] = True
        authenticator.save(update_fields=["data"])


def remove_unproven(user: User) -> None:
    """What whoever signed up may have made with an address of somebody else goes: the mailbox decides whose it is.

    That is everything where no address of the account was confirmed, and else what `mark_unproven` marked.
    """
    from allauth.account.models import EmailAddress
    from allauth.mfa.base.internal.flows import delete_dangling_recovery_codes
    from allauth.mfa.models import Authenticator

    unproven = Authenticator.objects.filter(user_id=user.pk)
    if EmailAddress.objects.filter(user_id=user.pk, verified=True).exists():
        unproven = unproven.filter(**{f"data__{_UNPROVEN}": True})
    removed, _rows = unproven.delete()
    if removed:
        delete_dangling_recovery_codes(user)
        note_change(of=user, kind=WayChange.WEBAUTHN_REMOVED)
