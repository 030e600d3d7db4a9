"""What was done to an app, for its members to read."""

from collections import defaultdict
from typing import Any

from django.utils.translation import gettext_lazy as _

from accounts.models import User, WayChange
from accounts.security_changes import note_change
from common.clock import database_now
from common.text import StrOrPromise
from developers.apps.models import App, AppAuditEntry

# By action; what is filled in by name comes from the entry's facts.
WORDS: dict[str, StrOrPromise] = {
    "app.made": _("Made the app “%(name)s”"),
    "app.renamed": _("Renamed the app from “%(before)s” to “%(name)s”"),
    "app.origins_set": _("Set the browser origins: %(origins)s"),
    "app.closed": _("Closed the app; tokens that ended with it: %(revoked_tokens)s"),
    "app.closed_with_owner": _(
        "Closed the app, since the account of its last owner ended; tokens that ended with it: %(revoked_tokens)s"
    ),
    "token.minted": _("Made the token “%(label)s” (%(prefix)s)"),
    "token.rotated": _("Rotated the token “%(label)s”: %(prefix)s takes the place of %(replaces)s"),
    "token.revoked": _("Revoked the token “%(label)s” (%(prefix)s)"),
    "token.leaked": _("Revoked the token “%(label)s” (%(prefix)s), which somebody found and reported"),
    "connector_key.registered": _("Registered the connector key %(key_id)s (%(fingerprint)s)"),
    "connector_key.removed": _("Removed the connector key %(key_id)s (%(fingerprint)s)"),
    "host.allowed": _("Let “%(label)s” act for the app (%(prefix)s)"),
    "console.called": _("Called %(operation)s in the console"),
    "app.approved": _("Approved the application"),
    "app.changed": _("Changed the app: %(fields)s"),
    "app.suspended": _("Suspended the app: %(note)s"),
    "app.restored": _("Restored the app: %(note)s"),
    "domain.proved": _("The domain %(domain)s is proved"),
    "domain.lost": _("The proof of %(domain)s is gone"),
    "member.added": _("Added %(member_id)s as %(role)s"),
    "member.role_changed": _("Made %(member_id)s %(role)s"),
    "member.removed": _("Removed %(member_id)s from the team"),
    "member.left": _("Left the team"),
    "member.agreed_to_tests": _("Agreed to be asked by the test app"),
    "member.ended_tests": _("No longer wants to be asked by the test app"),
    "invitation.made": _("Invited %(address)s as %(role)s"),
    "invitation.sent_again": _("Sent the invitation of %(address)s again"),
    "invitation.withdrawn": _("Withdrew the invitation of %(address)s"),
    "invitation.accepted": _("Accepted an invitation, as %(role)s"),
    "webhook.added": _("Added the endpoint %(url)s"),
    "webhook.changed": _("Changed the endpoint %(url)s"),
    "webhook.deleted": _("Deleted the endpoint %(url)s"),
    "webhook.secret_renewed": _("Renewed the secret of the endpoint %(url)s"),
    "webhook.replayed": _("Sent a notice to the endpoint %(url)s again"),
    "webhook.disabled": _("Disabled the endpoint %(url)s: %(reason)s"),
    "webhook.enabled": _("Enabled the endpoint %(url)s"),
    "destination.added": _("Added the destination %(name)s at %(url)s"),
    "destination.enabled": _("Enabled the destination %(name)s"),
    "destination.disabled": _("Disabled the destination %(name)s"),
    "destination.secret_renewed": _("Renewed the secret of the destination %(name)s"),
    "destination.removed": _("Removed the destination %(name)s"),
}

# What gives access to an app, or takes it away: whoever did it, or has a program that did, is told by mail.
NOTES_FOR_ACTOR = {
    "token.minted": WayChange.APP_TOKEN_MADE,
    "token.rotated": WayChange.APP_TOKEN_MADE,
    "webhook.added": WayChange.APP_SECRET_MADE,
    "webhook.changed": WayChange.APP_SECRET_MADE,
    "webhook.secret_renewed": WayChange.APP_SECRET_MADE,
    "destination.added": WayChange.APP_SECRET_MADE,
    "destination.secret_renewed": WayChange.APP_SECRET_MADE,
    "invitation.made": WayChange.APP_TEAM_CHANGED,
    "invitation.sent_again": WayChange.APP_TEAM_CHANGED,
    "member.role_changed": WayChange.APP_TEAM_CHANGED,
    "member.removed": WayChange.APP_TEAM_CHANGED,
    "member.left": WayChange.APP_TEAM_CHANGED,
    "app.closed": WayChange.APP_CLOSED,
}


def record(*, app: App, by: User | None, action: str, **facts: Any) -> None:
    """Write down that `by` did `action`, in the caller's transaction; None is the service itself.

    `action` is `<thing>.<what happened>`, such as `token.rotated`; `facts` are JSON and hold no secret.
    """
    AppAuditEntry.objects.create(app=app, member=by, action=action, facts=facts, at=database_now())
    if by is not None and action in NOTES_FOR_ACTOR:
        note_change(of=by, kind=NOTES_FOR_ACTOR[action], detail=app.name)


def in_words(entry: AppAuditEntry) -> str:
    """What was done; the action itself and its facts where there are no words for it."""
    facts = {name: ", ".join(map(str, one)) if isinstance(one, list) else one for name, one in entry.facts.items()}
    words = WORDS.get(entry.action)
    if words is None:
        listed = ", ".join(f"{name}: {value}" for name, value in facts.items())
        return f"{entry.action} ({listed})" if listed else entry.action
    return str(words) % defaultdict(lambda: "-", facts)


def action_in_words(action: str) -> str:
    """What such entries say, without what one of them is about."""
    return str(WORDS.get(action, action)) % defaultdict(lambda: "…")
