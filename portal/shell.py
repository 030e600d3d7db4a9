"""What every page of the developers' area shares: who may open it, its navigation, and what becomes of its form."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.template.response import TemplateResponse
from django.urls import URLPattern, get_resolver, reverse

from accounts.authentication import person_of
from common.problems import Problem
from common.text import StrOrPromise
from developers.apps.models import AppMode
from developers.members.models import AppMember, MemberRole

P = ParamSpec("P")
AppView = Callable[Concatenate[HttpRequest, AppMember, P], HttpResponse]
Page = Callable[Concatenate[HttpRequest, str, P], HttpResponse]


@dataclass(frozen=True)
class Tab:
    """A page's entry in the navigation of its app; `only` is the mode of the apps that have it."""

    label: StrOrPromise
    icon: str
    only: AppMode | None = None


def app_page(tab: Tab | None = None, *, owners_only: bool = False) -> Callable[[AppView[P]], Page[P]]:
    """For a view of one app: `(request, app_id, …)` comes in, `(request, member, …)` goes on; `member.app` is the app.

    Who is no member gets 404, as for an app that does not exist; so do members for what the view finds nowhere in the
    app. A member where only owners may gets 403. Goes below `require_safe`, `page_form` and the like, so that a wrong
    method is refused before anything is looked up.
    """

    def decorate(view: AppView[P]) -> Page[P]:
        @wraps(view)
        @login_required
        def page(request: HttpRequest, app_id: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            return view(request, _member(request, app_id, owners_only=owners_only), *args, **kwargs)

        page.tab = tab  # type: ignore[attr-defined]  # wrappers copy the attributes of a function
        return cast("Page[P]", page)

    return decorate


def _member(request: HttpRequest, app_id: str, *, owners_only: bool) -> AppMember:
    """The signed-in person's membership of this app, with the app. Raises `Http404`, `PermissionDenied`."""
    with_app = AppMember.objects.select_related("app__application", "user")
    member = with_app.filter(user=person_of(request), app__app_id=app_id).first()
    if member is None:
        raise Http404
    if owners_only and member.role != MemberRole.OWNER:
        raise PermissionDenied
    return member


def posted(request: HttpRequest) -> QueryDict | None:
    """What a form is bound to; None where the page is opened."""
    return request.POST if request.method == "POST" else None


class Refusals:
    """`with Refusals(form): …`: a refusal of what is done inside is an error of the form, for the page to show again.

    `words` puts it into the reader's language, `field` is where it is shown.
    """

    def __init__(
        self, form: forms.Form, field: str | None = None, words: Callable[[Problem], str] | None = None
    ) -> None:
        self._form, self._field, self._words = form, field, words

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, refused: BaseException | None, trace: object) -> bool:
        if not isinstance(refused, Problem):
            return False
        self._form.add_error(self._field, self._words(refused) if self._words else refused.detail)
        return True


def portal_page(
    request: HttpRequest, template: str, context: dict[str, Any], *, member: AppMember | None = None, status: int = 0
) -> HttpResponse:
    """A page of the portal; with `member`, one of an app, under that app's navigation.

    Without a `status`: 400 where the context's `form` has errors, else 200.
    """
    app = member.app if member else None
    shell = {"in_portal": True, "member": member, "app": app, "sections": _sections(request, member)}
    form: forms.Form | None = context.get("form")
    status = status or (400 if form is not None and form.errors else 200)
    return TemplateResponse(request, template, {**shell, **context}, status=status)


def _sections(request: HttpRequest, member: AppMember | None) -> list[dict[str, Any]]:
    if member is None:
        return []
    shown = []
    for pattern in get_resolver("portal.urls").url_patterns:  # by name, since urls.py imports the pages and they this
        tab: Tab | None = getattr(pattern.callback, "tab", None)
        if not isinstance(pattern, URLPattern) or tab is None or tab.only not in (None, member.app.mode):
            continue
        url = reverse(f"portal:{pattern.name}", args=[member.app.app_id])
        current = request.path == url or (pattern.name != "app" and request.path.startswith(url))
        shown.append({"url": url, "label": tab.label, "icon": tab.icon, "current": current})
    return shown
