"""What the buttons of the institutions page ask for, in words."""

from collections.abc import Callable

from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Say, Values, Words, to_page
from agents_proxy.financial import client
from agents_proxy.financial import items as linked_items
from agents_proxy.financial.errors import UnknownItem


def _link(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    if not client.is_configured():
        return None
    return Words(gettext("You asked to link an institution."), gettext("Link an institution"))


def _of_item(asked: Callable[[], str], button: Callable[[], str], *, danger: bool = False) -> Say:
    def words(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
        if not client.is_configured():
            return None
        try:
            body = linked_items.item_of(person_of(request), kwargs["item_id"])
        except UnknownItem:
            return None
        name = body["institution"] or gettext("Your institution")
        return Words(asked() % {"name": name}, button(), danger)

    return words


_AGREED = Field("agreed", _("I agree"), "check")
LINK = PageAction(page=to_page("financial:institutions"), words=_link, fields=(_AGREED,))
REFRESH = PageAction(
    page=to_page("financial:institutions"),
    words=_of_item(lambda: gettext("You asked to read again from %(name)s."), lambda: gettext("Read again")),
)
IDENTITY = PageAction(
    page=to_page("financial:institutions"),
    words=_of_item(lambda: gettext("You asked who %(name)s says you are."), lambda: gettext("Show who they say I am")),
    fields=(_AGREED,),
)
REMOVE = PageAction(
    page=to_page("financial:remove", "item_id"),
    words=_of_item(
        lambda: gettext("You asked to remove %(name)s, with all that was read."),
        lambda: gettext("Remove it"),
        danger=True,
    ),
    shows_itself=True,
)
