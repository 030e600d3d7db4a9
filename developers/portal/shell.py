"""What every page of the developer portal shares: who may open it, and its navigation."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, cast

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from developers.apps.models import App
from developers.members.models import AppMember, MemberRole

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

P = ParamSpec("P")
AppView = Callable[Concatenate[HttpRequest, AppMember, P], HttpResponse]
Page = Callable[Concatenate[HttpRequest, str, P], HttpResponse]


@dataclass(frozen=True)
class Section:
    """An entry of an app's navigation: the name of its page, which takes the `app_id`."""

    name: str
    label: "StrOrPromise"
    icon: str
    test_apps_only: bool = False
    live_apps_only: bool = False


SECTIONS = (
    Section("developers:app", _("Overview"), "monitor"),
    Section("developers:tokens", _("Tokens"), "key"),
    Section("portal:sandbox", _("Sandbox"), "user", test_apps_only=True),
    Section("portal:try", _("Try it"), "play", test_apps_only=True),
    Section("portal:webhooks", _("Webhooks"), "bell"),
    Section("destinations:destinations", _("Destinations"), "share"),
    Section("developers:log", _("Request log"), "list"),
    Section("portal:keys", _("Keys"), "fingerprint"),
    Section("portal:limits", _("Limits"), "clock"),
    Section("developers:members", _("Team"), "user"),
    Section("developers:domain", _("Domain"), "globe", live_apps_only=True),
    Section("developers:settings", _("Settings"), "settings"),
    Section("developers:audit", _("Audit"), "history"),
)


def app_page(*, owners_only: bool = False) -> Callable[[AppView[P]], Page[P]]:
    """For a view of one app: `(request, app_id, …)` comes in, `(request, member, …)` goes on; `member.app` is the app.

    Who is no member gets 404, as for an app that does not exist; a member where only owners may gets 403. Stands below
    `require_safe` and the like, so that a wrong method is told before anything is looked up.
    """

    def decorate(view: AppView[P]) -> Page[P]:
        @wraps(view)
        @login_required
        def page(request: HttpRequest, app_id: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            return view(request, member_of(request, app_id, owners_only=owners_only), *args, **kwargs)

        return cast("Page[P]", page)

    return decorate


def member_of(request: HttpRequest, app_id: str, *, owners_only: bool = False) -> AppMember:
    """The signed-in person's membership of this app, with the app. Raises `Http404`, `PermissionDenied`."""
    found = AppMember.objects.select_related("app__application", "user").filter(
        user=person_of(request), app__app_id=app_id
    )
    member = found.first()
    if member is None:
        raise Http404
    if owners_only and member.role != MemberRole.OWNER:
        raise PermissionDenied
    return member


def portal_page(
    request: HttpRequest, template: str, context: dict[str, Any], *, member: AppMember | None = None, status: int = 200
) -> HttpResponse:
    """A page of the portal; with `member`, one of an app, under that app's navigation."""
    app = member.app if member else None
    shell = {"in_portal": True, "member": member, "app": app, "sections": _sections(request, member)}
    return TemplateResponse(request, template, {**shell, **context}, status=status)


def _sections(request: HttpRequest, member: AppMember | None) -> list[dict[str, Any]]:
    if member is None:
        return []
    app: App = member.app
    shown = []
    for section in SECTIONS:
        if (section.test_apps_only and not app.is_test) or (section.live_apps_only and app.is_test):
            continue
        url = reverse(section.name, args=[app.app_id])
        current = request.path == url or (section.name != "developers:app" and request.path.startswith(url))
        shown.append({"url": url, "label": section.label, "icon": section.icon, "current": current})
    return shown
