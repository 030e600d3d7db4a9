"""The language somebody reads, kept for what is written to them while no browser says it."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.translation import gettext_noop
from django.views.i18n import set_language

from accounts.interrupted.page_forms import page_button
from accounts.models import User

_LANGUAGES = {f"language={code}": name for code, name in settings.LANGUAGES}
# the sign-in library's German catalogue says these with "Sie"; ours overrides them with "du"
OVERRIDDEN = (
    gettext_noop("Use your password"),
    gettext_noop("Use authenticator app or code"),
    gettext_noop("Use a security key"),
    gettext_noop("You cannot add an email address to an account protected by two-factor authentication."),
    gettext_noop("You cannot deactivate two-factor authentication."),
    gettext_noop("You cannot generate recovery codes without having two-factor authentication enabled."),
    gettext_noop("You cannot activate two-factor authentication until you have verified your email address."),
    gettext_noop(
        "Enabling passwordless operation allows you to sign in using just this key, but imposes additional "
        "requirements such as biometrics or PIN protection."
    ),
)


def language_for(user: User) -> str:
    """What to write to `user` in."""
    return user.language or settings.LANGUAGE_CODE


@page_button(_LANGUAGES, "next", open_to_all=True)
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
