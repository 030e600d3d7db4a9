"""What allauth asks this service: where a call comes from, how often it may try, and what is mailed."""

import logging
from typing import Any, cast
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.authentication import get_authentication_records
from allauth.core.exceptions import ReauthenticationRequired
from django.conf import settings
from django.core.validators import MaxLengthValidator
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode

from accounts.identifiers import is_sandbox_address
from accounts.models import Persona, User, WayChange
from accounts.personas import side_of
from accounts.phrase import with_phrase
from accounts.security_changes import note_change
from accounts.sign_in import attempts, known_browsers
from accounts.sign_in.confirming import signed_in_recently
from accounts.sign_in.forms import SIGN_UP_LEADS_TO
from accounts.sign_in.second_factors import has_authenticator_app, has_second_factor
from common import limits, mail
from common.limits import Limit
from common.mail import mailbox
from common.network import client_address

_log = logging.getLogger(__name__)
_FITS = MaxLengthValidator(254)
_NO_ADDRESS = "::"  # "unspecified": a record of a session must have one
_HOUR = 3600
_MAILS_OF_PERSON = Limit("mails-of-person", 20, _HOUR)  # to addresses of others, by somebody who is signed in
# what strangers can have sent to somebody; what tells of a change in an account always goes
_ON_DEMAND = frozenset(
    f"account/email/{name}"
    for name in (
        "account_already_exists",
        "email_confirmation",
        "email_confirmation_signup",
        "password_reset_key",
        "unknown_account",
    )
)


_LINKS = ("activate_url", "password_reset_url", "signup_url")  # in the contexts of allauth's mails


def _at_home(url: str) -> str:
    return settings.BASE_URL + urlsplit(url)._replace(scheme="", netloc="").geturl()


class Adapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """allauth's hooks, with limits that no stranger can close an account by."""

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request) or _NO_ADDRESS

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        if request.method == "POST":
            attempts.count_of_network(request, Limit("sign-ups", settings.SIGN_UPS_PER_NETWORK, _HOUR))
        return True

    def clean_email(self, email: str) -> str:
        """RFC 5321 has 254 characters, as the column; a form field of Django takes 320."""
        cleaned: str = super().clean_email(mailbox(email))
        _FITS(cleaned)
        return cleaned

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """allauth counts here, for everybody who names the account alike; `authenticate` counts for us."""

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Also asked when somebody who is signed in confirms that it is them."""
        user = request.user if request.user.is_authenticated else None
        attempt = attempts.begin(request, attempts.PASSWORD, user=user, email=mailbox(credentials.get("email", "")))
        found: User | None = None
        typed = credentials.pop("email", "")
        for email in dict.fromkeys((mailbox(typed), typed)):  # the second: kept before domains were made one
            found = found or super().authenticate(request, **credentials, **({"email": email} if email else {}))
        if found is None:
            attempt.failed()
        else:
            attempt.succeeded()
        return found

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        """Where there is a second factor, the password confirms nothing; the device comes before a code on paper."""
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        if has_second_factor(user):
            methods = [method for method in methods if method["id"] != "reauthenticate"]
            if not has_authenticator_app(user):
                methods.sort(key=lambda method: method["id"] == "mfa_reauthenticate")
        return methods

    def is_reauthentication_required(self, *, app: str, **more: Any) -> bool:
        """What shows that it is them is our one rule; where a password alone does, allauth asks for it once more.

        Where there is a second factor, the sign-in with it counts: the code on paper may have been the last.
        """
        if not signed_in_recently(self.request):
            raise ReauthenticationRequired
        if has_second_factor(cast("User", self.request.user)):
            return False
        required: bool = super().is_reauthentication_required(app=app, **more)
        return required

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        """The account that a passkey was made for has the identifier that the passkey holds."""
        user.public_id = getattr(form, "user_id", None) or user.public_id
        saved: User = super().save_user(request, user, form, commit)
        return saved

    def post_login(self, request: HttpRequest, user: User, **options: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **options)
        methods = [str(record["method"]) for record in get_authentication_records(request, user)]
        _log.info("%s signed in: %s", user.public_id, ", ".join(methods) or "sign-up")
        known_browsers.remember(request, response, user.public_id)
        return response

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Where nothing else was asked for: the side that they opened last."""
        if side_of(cast("User", request.user)) == Persona.DEVELOPER:
            return reverse("portal:home")
        return str(super().get_login_redirect_url(request))

    def get_email_verification_redirect_url(self, email_address: Any) -> str:
        """After a sign-up and its confirmation, lead to the sign-in and from there to where the sign-up began."""
        if self.request.user.is_authenticated or email_address.user.last_login is not None:
            url: str = super().get_email_verification_redirect_url(email_address)
            return url
        leads_to = self.request.session.pop(SIGN_UP_LEADS_TO, "") or settings.ACCOUNT_SIGNUP_REDIRECT_URL
        return f"{reverse('account_login')}?{urlencode({'next': leads_to})}"

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Beyond a few an hour nothing goes to an address, and no page says so: what came before still works.

        Nothing ever goes to a sandbox person, whom somebody may name in the form for a forgotten password. Links lead
        to BASE_URL, and not to the `Host` of the request, whose port is whatever its sender wrote.
        """
        if is_sandbox_address(email):
            return
        if template_prefix in _ON_DEMAND and self._often_enough(template_prefix, email):
            return
        links = {name: _at_home(context[name]) for name in _LINKS if context.get(name)}
        super().send_mail(template_prefix, email, {**context, **links})

    def render_mail(
        self,
        template_prefix: str,
        email: str | list[str],
        context: dict[str, Any],
        headers: dict[str, str] | None = None,
    ) -> Any:
        message = super().render_mail(template_prefix, email, context, {**mail.HEADERS, **(headers or {})})
        reader = context.get("user")
        if isinstance(reader, User):  # nobody, where the address has no account
            message.body = with_phrase(reader, str(email), message.body)
        return message

    def send_notification_mail(
        self, template_prefix: str, user: User, context: dict[str, Any] | None = None, email: str | None = None
    ) -> None:
        """A change of a way in: what happened, told from the queue, so that no request waits for or fails by a mail."""
        values = context or {}
        detail = values.get("to_email") or values.get("deleted_email") or ""
        note_change(of=user, kind=WayChange(template_prefix.rpartition("/")[2]), detail=detail, address=email or "")

    def _often_enough(self, template_prefix: str, email: str) -> bool:
        if self.request.user.is_authenticated:  # their own doing, whose page has to say why nothing comes
            mails = limits.count(_MAILS_OF_PERSON, self.request.user.public_id)
            if mails.exceeded:
                raise attempts.TooManyAttempts(self.request, mails.resets_in)
        of_address = Limit("account-mails", settings.ACCOUNT_MAILS_PER_HOUR, _HOUR)
        return limits.count(of_address, f"{template_prefix} {email.strip().lower()}").exceeded
