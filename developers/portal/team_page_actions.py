"""What the buttons of a team ask for, in words, so that they can wait while somebody signs in again."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Values, Words, to_page
from developers.members import invitations, queries
from developers.members.models import AppMember, MemberRole

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

Say = Callable[[AppMember, Kwargs, Values], Words | None]
_PAGE = to_page("developers:members", "app_id")


def _in_team(say: Say, *, owners_only: bool = True) -> Callable[[HttpRequest, Kwargs, Values], Words | None]:
    """Words for who is in the team of the app; None for everybody else, who could do nothing."""

    def words(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
        own = queries.memberships_of(person_of(request)).filter(app__app_id=kwargs["app_id"]).first()
        if own is None or (owners_only and own.role != MemberRole.OWNER):
            return None
        return say(own, kwargs, values)

    return words


def _about_member(asked: "StrOrPromise", button: "StrOrPromise", *, danger: bool = True) -> Say:
    def say(own: AppMember, kwargs: Kwargs, values: Values) -> Words | None:
        other = queries.team_member(own.app, kwargs["user_id"])
        if other is None:
            return None
        named = other.user.email if other.shows_email else other.user.public_id
        return Words(str(asked) % {"app": own.app.name, "who": named}, str(button), danger=danger)

    return say


def _about_invitation(asked: "StrOrPromise", button: "StrOrPromise") -> Say:
    def say(own: AppMember, kwargs: Kwargs, values: Values) -> Words | None:
        found: Any = queries.pending_invitations(own.app).filter(pk=kwargs["invitation_pk"]).first()
        return Words(str(asked) % {"app": own.app.name, "who": found.whom}, str(button)) if found else None

    return say


def _invite(own: AppMember, kwargs: Kwargs, values: Values) -> Words:
    asked = gettext("You asked to invite somebody to the team of %(app)s.") % {"app": own.app.name}
    return Words(asked, gettext("Invite"))


def _leave(own: AppMember, kwargs: Kwargs, values: Values) -> Words:
    asked = gettext("You asked to leave the team of %(app)s.") % {"app": own.app.name}
    return Words(asked, gettext("Leave the team"), danger=True)


def _agree(own: AppMember, kwargs: Kwargs, values: Values) -> Words | None:
    if values.get("agreed") == "yes":
        return Words(gettext("You asked to let %(app)s ask you, as a test.") % {"app": own.app.name}, gettext("Agree"))
    asked = gettext("You asked that %(app)s may no longer ask you.") % {"app": own.app.name}
    return Words(asked, gettext("Take it back"))


def _accept(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    found = invitations.open_invitation(kwargs["secret"])
    if found is None:
        return None
    return Words(gettext("You asked to join the team of %(app)s.") % {"app": found.app.name}, gettext("Join the team"))


INVITE = PageAction(
    _PAGE, _in_team(_invite), (Field("email", _("E-mail address"), "text", most=254), Field("role")), fresh=True
)
RESEND = PageAction(
    _PAGE,
    _in_team(_about_invitation(_("You asked to send the invitation to %(who)s once more."), _("Send it again"))),
    fresh=True,
)
WITHDRAW = PageAction(
    _PAGE, _in_team(_about_invitation(_("You asked to withdraw the invitation to %(who)s."), _("Withdraw")))
)
CHANGE_ROLE = PageAction(
    _PAGE,
    _in_team(_about_member(_("You asked to change the role of %(who)s in %(app)s."), _("Change the role"))),
    (Field("role"),),
    fresh=True,
)
TRANSFER = PageAction(
    _PAGE, _in_team(_about_member(_("You asked to hand %(app)s over to %(who)s."), _("Hand the app over"))), fresh=True
)
REMOVE = PageAction(
    _PAGE, _in_team(_about_member(_("You asked to remove %(who)s from the team of %(app)s."), _("Remove"))), fresh=True
)
LEAVE = PageAction(_PAGE, _in_team(_leave, owners_only=False), fresh=True)
AGREE_TO_TESTS = PageAction(_PAGE, _in_team(_agree, owners_only=False), (Field("agreed"),))
ACCEPT = PageAction(to_page("developers:invitation", "secret"), _accept, shows_itself=True)
