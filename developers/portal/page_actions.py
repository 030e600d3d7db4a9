"""What the portal's buttons ask for, in words, so that it can wait while somebody signs in again."""

from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Values, Words, to_page


def _make_test_app(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words:
    return Words(gettext("You asked to make a test app."), gettext("Make the test app"))


MAKE_TEST_APP = PageAction(
    page=to_page("developers:home"), words=_make_test_app, fields=(Field("name", _("Name"), "text", most=80),)
)
