"""What the portal's buttons ask for, in words, so that it can wait while somebody signs in again."""

from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Values, Words, to_page
from developers.apps.models import App, AppMode
from developers.members.models import AppMember


def _make_test_app(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words:
    return Words(gettext("You asked to make a test app."), gettext("Make the test app"))


def _app_of(request: HttpRequest, kwargs: Kwargs) -> App | None:
    return App.objects.filter(app_id=kwargs["app_id"], members__user=person_of(request)).first()


def _rename(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    app = _app_of(request, kwargs)
    if app is None:
        return None
    return Words(gettext("You asked to rename %(app)s.") % {"app": app.name}, gettext("Rename it"))


def _close(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    app = _app_of(request, kwargs)
    if app is None:
        return None
    asked = gettext("You asked to close %(app)s for good.") % {"app": app.name}
    return Words(asked, gettext("Close the app"), danger=True)


MAKE_TEST_APP = PageAction(
    page=to_page("developers:home"), words=_make_test_app, fields=(Field("name", _("Name"), "text", most=80),)
)
RENAME = PageAction(
    page=to_page("developers:settings", "app_id"),
    words=_rename,
    fields=(Field("name", _("Name"), "text", most=80),),
    shows_itself=True,
)
CLOSE = PageAction(
    page=to_page("developers:close", "app_id"),
    words=_close,
    fields=(Field("name", _("Name of the app"), "text", most=80),),
    shows_itself=True,
    fresh=True,
)


def _check_domain(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    own = AppMember.objects.filter(user=person_of(request), app__app_id=kwargs["app_id"], app__mode=AppMode.LIVE)
    name = own.values_list("app__name", flat=True).first()
    words = gettext("You asked to have the domain of %(name)s checked.")
    return Words(words % {"name": name}, gettext("Check now")) if name else None


CHECK_DOMAIN = PageAction(page=to_page("developers:domain", "app_id"), words=_check_domain, shows_itself=True)
