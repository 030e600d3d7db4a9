"""What the buttons of the sandbox ask for, in words, so that it can wait while somebody signs in again."""

from collections.abc import Callable

from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Values, Words, to_page
from consent.errors import UnknownUser
from consent.portal.forms import ClockForm
from consent.sandbox import queries as sandbox_queries
from developers.members.models import AppMember

_Say = Callable[[str, Values], Words | None]


def _make_person(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    member = (
        AppMember.objects.select_related("app").filter(user=person_of(request), app__app_id=kwargs["app_id"]).first()
    )
    if member is None or not member.app.is_test:
        return None
    asked = gettext("You asked to make a sandbox person for %(app)s.") % {"app": member.app.name}
    return Words(asked, gettext("Make the person"))


def _of_person(say: _Say) -> Callable[[HttpRequest, Kwargs, Values], Words | None]:
    """Words about a sandbox person whom this member may play."""

    def words(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
        try:
            of = sandbox_queries.played_by_member(
                by=person_of(request), app_id=kwargs["app_id"], user_id=kwargs["user_id"]
            )
        except UnknownUser:
            return None
        return say(of.display_name or of.public_id, values)

    return words


def _move_clock(name: str, values: Values) -> Words | None:
    if not ClockForm(values).is_valid():
        return None
    return Words(gettext("You asked to move the clock of %(name)s.") % {"name": name}, gettext("Move the clock"))


def _delete_person(name: str, values: Values) -> Words:
    asked = gettext("You asked to delete the sandbox person %(name)s.") % {"name": name}
    return Words(asked, gettext("Delete"), danger=True)


MAKE_PERSON = PageAction(
    page=to_page("portal:sandbox", "app_id"), words=_make_person, fields=(Field("label", _("Name"), "text", most=80),)
)
MOVE_CLOCK = PageAction(
    page=to_page("portal:sandbox-person", "app_id", "user_id"),
    words=_of_person(_move_clock),
    fields=(Field("seconds"),),
)
DELETE_PERSON = PageAction(page=to_page("portal:sandbox-person", "app_id", "user_id"), words=_of_person(_delete_person))
