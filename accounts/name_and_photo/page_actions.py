"""What the buttons of this page ask for, in words, so that it can wait while somebody signs in again."""

from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Values, Words, to_page


def _save(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    return Words(gettext("You asked to save your name."), gettext("Save"))


def _remove(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    return Words(gettext("You asked to remove your photo."), gettext("Remove"), danger=True)


# a file does not wait: it is chosen again
SAVE = PageAction(
    page=to_page("name-and-photo"), words=_save, fields=(Field("display_name", _("Name"), "text", 100),),
    shows_itself=True,
)  # fmt: skip
REMOVE = PageAction(page=to_page("name-and-photo"), words=_remove)
