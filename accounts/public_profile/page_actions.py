"""What the buttons of the public profile ask for, in words, so that it can wait while somebody signs in again."""

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Values, Words, to_page


def _save(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    return Words(gettext("You asked to save your public profile."), gettext("Save"))


def _switch(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    if values.get("shown") == "yes":
        return Words(gettext("You asked to switch your public profile on."), gettext("Switch on"))
    return Words(gettext("You asked to switch your public profile off."), gettext("Switch off"))


def _list(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    if values.get("listed") == "yes":
        return Words(gettext("You asked to let apps find you in the directory."), gettext("Let apps find me"))
    return Words(gettext("You asked not to be found by apps in the directory."), gettext("Switch off"))


def _remove(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    return Words(gettext("You asked to remove your public profile."), gettext("Remove"), danger=True)


def _page_of_switch(kwargs: Kwargs, values: Values) -> str:
    return reverse("public-profile-preview" if values.get("shown") == "yes" else "public-profile")


SAVE = PageAction(
    page=to_page("public-profile"),
    words=_save,
    fields=(
        Field("handle", _("Handle"), "text", 32),
        Field("display_name", _("Name to show"), "text", 100),
        Field("headline", _("Headline"), "text", 160),
        Field("location_hint", _("Where you are"), "text", 100),
    ),
    shows_itself=True,
)
SWITCH = PageAction(page=_page_of_switch, words=_switch, fields=(Field("shown"), Field("seen")))
LIST = PageAction(page=to_page("public-profile"), words=_list, fields=(Field("listed"),))
REMOVE = PageAction(page=to_page("public-profile"), words=_remove)
