"""What the buttons of the pages of tokens ask for, in words."""

from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Values, Words, to_page
from developers.apps.models import App
from developers.tokens.models import DeveloperToken, ManagementPermission, ManagementToken, Permission


def _app_of(request: HttpRequest, kwargs: Kwargs) -> App | None:
    return App.objects.filter(app_id=kwargs["app_id"], members__user=person_of(request)).first()


def _token_of(request: HttpRequest, kwargs: Kwargs) -> DeveloperToken | None:
    app = _app_of(request, kwargs)
    return DeveloperToken.objects.filter(app=app, prefix=kwargs["prefix"]).first() if app else None


def _mint(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    app = _app_of(request, kwargs)
    if app is None:
        return None
    return Words(gettext("You asked to make a token for %(app)s.") % {"app": app.name}, gettext("Make the token"))


def _rotate(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    token = _token_of(request, kwargs)
    if token is None:
        return None
    return Words(gettext("You asked to rotate the token “%(label)s”.") % {"label": token.label}, gettext("Rotate it"))


def _revoke(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    token = _token_of(request, kwargs)
    if token is None:
        return None
    asked = gettext("You asked to revoke the token “%(label)s”.") % {"label": token.label}
    return Words(asked, gettext("Revoke it"), danger=True)


def _mint_management(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words:
    return Words(gettext("You asked to make a management token."), gettext("Make the token"))


def _revoke_management(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    token = ManagementToken.objects.filter(user=person_of(request), prefix=kwargs["prefix"]).first()
    if token is None:
        return None
    asked = gettext("You asked to revoke the management token “%(label)s”.") % {"label": token.label}
    return Words(asked, gettext("Revoke it"), danger=True)


_LABEL = Field("label", _("Label"), "text", most=80)
_DAYS = Field("days", _("Expires after days"), "text", most=3)

MINT_TOKEN = PageAction(
    page=to_page("developers:tokens", "app_id"),
    words=_mint,
    fields=(
        _LABEL,
        *(Field(name, label, "check") for name, label in Permission.choices),
        Field("header_only", _("Only in the header"), "check"),
        _DAYS,
        Field("prefix"),
    ),
    shows_itself=True,
    fresh=True,
)
ROTATE_TOKEN = PageAction(
    page=to_page("developers:tokens", "app_id"),
    words=_rotate,
    fields=(Field("overlap"),),
    shows_itself=True,
    fresh=True,
)
REVOKE_TOKEN = PageAction(page=to_page("developers:tokens", "app_id"), words=_revoke, shows_itself=True)
MINT_MANAGEMENT_TOKEN = PageAction(
    page=to_page("developers:management-tokens"),
    words=_mint_management,
    fields=(
        _LABEL,
        Field("app"),
        *(Field(name, label, "check") for name, label in ManagementPermission.choices),
        _DAYS,
        Field("prefix"),
    ),
    shows_itself=True,
    fresh=True,
)
REVOKE_MANAGEMENT_TOKEN = PageAction(
    page=to_page("developers:management-tokens"), words=_revoke_management, shows_itself=True
)
