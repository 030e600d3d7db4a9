"""What the buttons of leaving ask for, in words, so that it can wait while somebody signs in again."""

from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Values, Words, to_page


def _delete(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    return Words(gettext("You asked to delete your account."), gettext("Delete the account"), danger=True)


def _keep(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    return Words(gettext("You asked to keep your account."), gettext("Keep my account"))


DELETE = PageAction(
    page=to_page("account-delete"),
    words=_delete,
    fields=(Field("address", _("E-mail address"), "text", 254),),
    shows_itself=True,
)
KEEP = PageAction(page=to_page("account-delete"), words=_keep)
KEEP_BY_MAIL = PageAction(
    page=to_page("account-keep-by-mail"),
    words=_keep,
    fields=(Field("code", _("Code from the mail"), "text", 64),),
    shows_itself=True,
    open_to_all=True,
)
