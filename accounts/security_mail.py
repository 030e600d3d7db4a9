"""The mail that tells somebody that their ways in changed. The changes wait until they settle, and go into one mail."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Max, Min, Q
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.alerts.push import send_push
from accounts.alerts.settings import is_sent_by, settings_of
from accounts.models import OF_DEVELOPERS, AlertWay, SecurityChange, User, WayChange
from accounts.outbox import Gathering, send_mail

_SETTLES = timedelta(seconds=20)  # what one press changes comes in several requests, and is one mail
_AT_THE_LATEST = timedelta(minutes=2)
_GIVEN_UP_AFTER = timedelta(days=7)
_BATCH = 100

_LINES: dict[tuple[str, str], Promise] = {
    (WayChange.PASSWORD_CHANGED, ""): _("Your password was changed"),
    (WayChange.PASSWORD_SET, ""): _("Your account now has a password"),
    (WayChange.PASSWORD_RESET, ""): _("Your password was reset by mail; the passphrase of your data is as before"),
    (WayChange.EMAIL_CHANGED, ""): _("The e-mail address of your account was changed to %(detail)s"),
    (WayChange.EMAIL_DELETED, ""): _("%(detail)s was removed from your account"),
    (WayChange.TOTP_ACTIVATED, ""): _("An authenticator app was added; two-step sign-in is on"),
    (WayChange.TOTP_DEACTIVATED, ""): _("The authenticator app was removed"),
    (WayChange.RECOVERY_CODES_GENERATED, ""): _(
        "New recovery codes for signing in were made; the old ones no longer work"
    ),
    (WayChange.WEBAUTHN_ADDED, ""): _("A passkey or security key for signing in was added"),
    (WayChange.WEBAUTHN_REMOVED, ""): _("A passkey or security key for signing in was removed"),
    (WayChange.WRAPPER_ADDED, "passphrase"): _("A passphrase that unlocks your data was added"),
    (WayChange.WRAPPER_ADDED, "passkey"): _("A passkey that unlocks your data was added"),
    (WayChange.WRAPPER_ADDED, "recovery"): _("A recovery code that unlocks your data was added"),
    (WayChange.WRAPPER_REMOVED, "passphrase"): _("A passphrase no longer unlocks your data"),
    (WayChange.WRAPPER_REMOVED, "passkey"): _("A passkey no longer unlocks your data"),
    (WayChange.WRAPPER_REMOVED, "recovery"): _("A recovery code no longer unlocks your data"),
    (WayChange.WRAPPER_RESTORED, "passphrase"): _("A passphrase that was removed unlocks your data again"),
    (WayChange.WRAPPER_RESTORED, "passkey"): _("A passkey that was removed unlocks your data again"),
    (WayChange.WRAPPER_RESTORED, "recovery"): _("A recovery code that was removed unlocks your data again"),
    (WayChange.KEY_CHANGE_BEGUN, ""): _("A change of the key of your data was begun"),
    (WayChange.KEY_CHANGE_FINISHED, ""): _("The key of your data was changed; earlier ways to unlock open nothing now"),
    (WayChange.SIGNING_KEY_SET, ""): _("Your vault now has a key that signs what you approve"),
    (WayChange.SIGNING_KEY_REPLACED, ""): _("The key that signs what you approve was replaced"),
    (WayChange.APP_TOKEN_MADE, ""): _("A token of the app “%(detail)s” was made"),
    (WayChange.APP_SECRET_MADE, ""): _("Where the app “%(detail)s” is told, or the secret for that, was changed"),
    (WayChange.APP_TEAM_CHANGED, ""): _("Somebody was invited to the team of “%(detail)s”, or the team was changed"),
    (WayChange.APP_CLOSED, ""): _("The app “%(detail)s” was closed"),
    (WayChange.MANAGEMENT_TOKEN_MADE, ""): _("The management token “%(detail)s” was made"),
    (WayChange.MANAGEMENT_TOKENS_REVOKED, ""): _("Your management tokens were revoked"),
    (WayChange.PHONE_NUMBER_TAKEN, ""): _(
        "Somebody else verified the phone number %(detail)s: it is not yours any more, and what you agreed to about it "
        "has ended"
    ),
    (WayChange.KEY_CHANGE_GIVEN_UP, ""): _("The change of the key of your data was given up; all opens as before"),
}
# the browser adds the new one, opens it again and then takes the old one away: to people that is one thing
_REPLACED = {
    "passphrase": _("The passphrase of your data was changed"),
    "recovery": _("The recovery code of your data was replaced by a new one"),
}


@dataclass(frozen=True)
class Line:
    words: str
    at: datetime


def in_words(changes: Sequence[SecurityChange]) -> list[Line]:
    """What happened, oldest first, in the language that is on; an old way that a new one replaced is one line."""
    left = list(changes)
    replaced = {}
    for kind, words in _REPLACED.items():
        added = next((one for one in left if (one.kind, one.detail) == (WayChange.WRAPPER_ADDED, kind)), None)
        gone = [one for one in left if (one.kind, one.detail) == (WayChange.WRAPPER_REMOVED, kind)]
        after = next((one for one in gone if added is not None and one.pk > added.pk), None)
        if added is not None and after is not None:
            left.remove(added)
            replaced[after.pk] = words
    if any(one.kind == WayChange.KEY_CHANGE_FINISHED for one in left):
        left = [one for one in left if one.kind != WayChange.KEY_CHANGE_BEGUN]
    return [Line(str(replaced[one.pk]) if one.pk in replaced else _words(one), one.at) for one in left]


def _words(change: SecurityChange) -> str:
    wrapper = change.detail if change.kind.startswith("wrapper_") else ""
    return str(_LINES[change.kind, wrapper]) % {"detail": change.detail}


def _due() -> list[tuple[int, str]]:
    """Whom to write to, by key and address: whose changes have settled, or have waited long enough."""
    now = timezone.now()
    waiting = SecurityChange.objects.values("user", "address").annotate(oldest=Min("at"), newest=Max("at"))
    due = waiting.filter(Q(newest__lte=now - _SETTLES) | Q(oldest__lte=now - _AT_THE_LATEST)).order_by("oldest")
    return list(due.values_list("user", "address")[:_BATCH])


def _queue(whose: tuple[int, str]) -> None:
    user_pk, address = whose
    locked = SecurityChange.objects.select_for_update(skip_locked=True).filter(user=user_pk, address=address)
    changes = list(locked.order_by("pk"))
    SecurityChange.objects.filter(pk__in=[change.pk for change in changes]).delete()
    changes = [change for change in changes if change.at > timezone.now() - _GIVEN_UP_AFTER]
    if not changes:
        return
    user = User.objects.get(pk=user_pk)
    send_mail("account_security/mail/changed", to=user, address=address, context=lambda: _context(changes), wake=False)
    if is_sent_by(settings_of(user), "security", AlertWay.PUSH):
        send_push(to=user, words=lambda: _on_screen(changes), path="/account/security/", tag="security")


def _context(changes: Sequence[SecurityChange]) -> dict[str, Any]:
    return {
        "lines": in_words(changes),
        "of_apps": any(change.kind in OF_DEVELOPERS for change in changes),
        "can_be_put_back": any(change.kind == WayChange.WRAPPER_REMOVED for change in changes),
        "site": settings.BASE_URL,
    }


def _on_screen(changes: Sequence[SecurityChange]) -> tuple[str, str]:
    """Without addresses and names, which a locked screen would show to anybody."""
    words = ngettext(
        "%(n)d change of how you sign in or unlock", "%(n)d changes of how you sign in or unlock", len(changes)
    )
    return gettext("Your account was changed"), words % {"n": len(changes)}


GATHERING = Gathering(_due, _queue)
