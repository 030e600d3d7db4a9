"""What the buttons of an app's destinations ask for, in words."""

from collections.abc import Callable

from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Values, Words, to_page
from agents_proxy.destinations.models import Destination
from developers.members.models import AppMember
from developers.webhooks.policies import LONGEST_ADDRESS


def _add(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    member = AppMember.objects.filter(user=person_of(request), app__app_id=kwargs["app_id"]).select_related("app")
    found = member.first()
    if found is None:
        return None
    asked = gettext("You asked to add a destination to %(app)s.") % {"app": found.app.name}
    return Words(asked, gettext("Add the destination"))


def _of_destination(
    say: Callable[[Destination, Values], Words | None],
) -> Callable[[HttpRequest, Kwargs, Values], Words | None]:
    """Words about a destination of an app that this person manages."""

    def words(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
        own = Destination.objects.filter(
            destination_id=kwargs["destination_id"],
            app__app_id=kwargs["app_id"],
            app__members__user=person_of(request),
            removed_at=None,
        )
        found = own.defer("secret").first()
        return say(found, values) if found else None

    return words


def _switch(destination: Destination, values: Values) -> Words | None:
    told = {"name": destination.name}
    if values.get("enabled") == "yes":
        return Words(gettext("You asked to let people send to %(name)s again.") % told, gettext("Enable"))
    if values.get("enabled") == "no":
        return Words(gettext("You asked to let nobody send to %(name)s.") % told, gettext("Disable"))
    return None


def _renew(destination: Destination, values: Values) -> Words:
    asked = gettext("You asked to renew the secret of %(name)s.") % {"name": destination.name}
    return Words(asked, gettext("Renew the secret"), danger=True)


def _remove(destination: Destination, values: Values) -> Words:
    asked = gettext("You asked to remove the destination %(name)s.") % {"name": destination.name}
    return Words(asked, gettext("Remove the destination"), danger=True)


_PAGE = to_page("destinations:destinations", "app_id")
ADD = PageAction(
    page=_PAGE,
    words=_add,
    fields=(Field("name", _("Name"), "text", most=80), Field("url", _("Address"), "text", most=LONGEST_ADDRESS)),
    shows_itself=True,
    fresh=True,
)
SWITCH = PageAction(page=_PAGE, words=_of_destination(_switch), fields=(Field("enabled"),))
RENEW = PageAction(page=_PAGE, words=_of_destination(_renew), fresh=True)
REMOVE = PageAction(
    page=to_page("destinations:remove", "app_id", "destination_id"), words=_of_destination(_remove), shows_itself=True
)
