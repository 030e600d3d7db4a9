"""What becomes of teams, tokens and applications when a developer leaves (accounts/hooks.py)."""

# ruff: noqa: S608  # the statements are of our own names
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from accounts.hooks import RoomErasure
from accounts.models import User
from common.sql.erasing import PersonalRows
from common.text import StrOrPromise
from developers.applications.mail import STAFF_MAIL
from developers.apps.actions import close_app
from developers.apps.models import CLOSED_WITH_OWNER, App, AppStatus
from developers.members.models import AppMember, MemberRole
from developers.oauth.actions import stop_hosts_of
from developers.rules import RULES

_EMAIL = "(SELECT email FROM users WHERE id = :person)"
_NO_APP = "NOT EXISTS (SELECT 1 FROM developer_apps a WHERE a.application_id = developer_applications.id)"
_INVITATIONS = f"invited_by_id = :person OR accepted_by_id = :person OR person_id = :person OR email = {_EMAIL}"
_APPLIED = "EXISTS (SELECT 1 FROM developer_applications d WHERE d.applicant_id = :person)"
_SENT = f"EXISTS (SELECT 1 FROM outgoing_mails m WHERE m.template = '{STAFF_MAIL}')"
_GONE = "destroyed"

ROWS = PersonalRows(
    name="erase_developer_rows",
    rules=tuple(rule for rule in RULES if rule.erasable),
    unsampled={
        "app_audit": ("facts",),
        "app_invitations": ("email",),
        "developer_applications": ("legal_name", "contact_email", "use_case"),
        "developer_apps": ("name",),
        "management_tokens": ("label",),
        "sandbox_people": ("label",),
    },
    statements=(
        "DELETE FROM outgoing_mails WHERE key IN "
        f"(SELECT 'invitation:' || id FROM app_invitations WHERE {_INVITATIONS})",
        # what staff were not told yet: the next mail names the others' applications
        f"UPDATE developer_applications SET staff_told_at = NULL WHERE status = 'submitted' AND {_APPLIED} AND {_SENT}",
        f"DELETE FROM outgoing_mails WHERE template = '{STAFF_MAIL}' AND {_APPLIED}",
        "UPDATE app_audit SET facts = '{}' WHERE EXISTS ("
        "SELECT 1 FROM users u WHERE u.id = :person AND {has|app_audit.facts|u.email})",
        f"DELETE FROM app_invitations WHERE {_INVITATIONS}",
        "DELETE FROM app_members WHERE user_id = :person",
        "DELETE FROM app_people WHERE user_id = :person",
        "UPDATE developer_apps SET name = app_id, person_id = NULL WHERE person_id = :person",
        "DELETE FROM management_tokens WHERE user_id = :person",
        f"DELETE FROM developer_applications WHERE applicant_id = :person AND {_NO_APP}",
        "DELETE FROM idempotency_keys WHERE {has|answer|:user_id}",
    ),
)
TABLES = {
    "app_members": _GONE,
    "app_people": _GONE + ": nothing tells any more which apps' names are one person's",
    "management_tokens": _GONE,
    "app_invitations": _GONE,
    "developer_applications": _GONE + " where no app came of it; else it stays with the app: who asked people for data",
    "developer_apps": "a personal app is closed without its name, and nothing tells any more whose it was",
    "idempotency_keys": _GONE + " where an answer names them",
    "request_log": "stays with the app for its days: what was called, and nothing of whom",
    "webhook_endpoints": "stays with the app; a personal app has none",
    "developer_tokens": "stays with the app; who made it is an anonymous account",
    "app_audit": "stays with the app; who did it is an anonymous account",
}


def _without_owner(user: User) -> QuerySet[App]:
    """The open apps that would have no owner who can sign in."""
    own = AppMember.objects.filter(app=OuterRef("pk"), user=user, role=MemberRole.OWNER)
    others = AppMember.objects.filter(app=OuterRef("pk"), role=MemberRole.OWNER, user__is_active=True).exclude(
        user=user
    )
    return App.objects.exclude(status=AppStatus.CLOSED).filter(Exists(own)).exclude(Exists(others)).order_by("pk")


def outcomes(user: User) -> list[StrOrPromise]:
    """What the page tells before anybody confirms."""
    alone = list(_without_owner(user))
    closed = _(
        "You are the only owner of “%(app)s”: it is closed, its tokens end, and the others in its team are told. If it "
        "is to go on, make somebody else an owner first."
    )
    teams = AppMember.objects.filter(user=user).exclude(app__status=AppStatus.CLOSED).exclude(app__in=alone)
    names = ", ".join(teams.order_by("app__name").values_list("app__name", flat=True))
    stays = [_("You leave the teams of %(apps)s; the apps stay with the others.") % {"apps": names}] if names else []
    return [*(closed % {"app": app.name} for app in alone), *stays]


def end_everything(user: User) -> None:
    """Close what nobody else owns. It is no obstacle: whoever was made an owner may leave at any time."""
    stop_hosts_of(user)
    for app in _without_owner(user):
        close_app(app=app, by=user, action=CLOSED_WITH_OWNER)
    for app in App.objects.filter(person=user).exclude(status=AppStatus.CLOSED):
        close_app(app=app, by=user)


def export(user: User) -> dict[str, Any]:
    """Teams, tokens by their labels, applications."""
    applied = ("name", "legal_name", "website", "privacy_policy", "contact_email", "use_case", "status", "created_at")
    return {
        "teams": list(AppMember.objects.filter(user=user).values("app__app_id", "app__name", "role", "created_at")),
        "management_tokens": list(user.management_tokens.values("label", "prefix", "created_at", "expires_at")),
        "hosts": list(user.own_assistants.values("app_id", "name", "status", "created_at")),
        "tokens_made": list(user.created_tokens.values("app__app_id", "label", "created_at")),
        "applications": list(user.developer_applications.values(*applied)),
        "invitations_sent": list(user.app_invitations.values("email", "created_at")),
    }


ROOM = RoomErasure(
    name="developers", order=30, rows=ROWS, tables=TABLES, outcomes=outcomes, ends=end_everything, export=export
)
