"""The language somebody reads, kept for what is written to them while no browser says it."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from accounts.interrupted.page_actions import Field, PageAction, Values, Words, can_wait
from accounts.models import User


def _page(kwargs: dict[str, Any], values: Values) -> str:
    there = values.get("next", "")
    return there if url_has_allowed_host_and_scheme(there, None) else "/"


def _words(request: HttpRequest, kwargs: dict[str, Any], values: Values) -> Words | None:
    name = dict(settings.LANGUAGES).get(values.get("language", ""))
    return Words(gettext("You chose a language: %(name)s.") % {"name": name}, name) if name else None


CHOOSE = PageAction(_page, _words, (Field("language"), Field("next")), open_to_all=True)


def language_for(user: User) -> str:
    """What to write to `user` in."""
    return user.language or settings.LANGUAGE_CODE


@require_POST
@can_wait(CHOOSE)
def choose_language(request: HttpRequest) -> HttpResponse:
    """The switch of every page: Django's cookie, and for somebody signed in their mail too."""
    chosen = request.POST.get("language")
    if request.user.is_authenticated and chosen in dict(settings.LANGUAGES):
        User.objects.filter(pk=request.user.pk).update(language=chosen)
    return set_language(request)


def keep_first_language(*, request: HttpRequest, user: User, **_: Any) -> None:
    """After signing in: the language of the page it happened on, where nothing is known yet."""
    if not user.language:
        User.objects.filter(pk=user.pk, language="").update(language=translation.get_language())
