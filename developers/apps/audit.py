"""What was done to an app, for its members to read."""

from typing import Any

from accounts.models import User, WayChange
from accounts.security_changes import note_change
from common.clock import database_now
from developers.apps.models import App, AppAuditEntry

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
