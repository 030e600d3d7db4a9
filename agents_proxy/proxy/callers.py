"""Who calls an agent: a signed-in person on our own pages, another site's page or backend with its token, or nobody."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest
from rest_framework.authentication import CSRFCheck

from accounts.models import User
from agents_proxy.errors import ConsentRequired, CsrfRefused, OriginRefused
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.origins import app_of_origin
from agents_proxy.states import Purpose

HEADER = "A2A-Consent"
LONGEST_TOKEN = 200  # characters; ours have 43


@dataclass(frozen=True)
class Caller:
    """Whose consent covers a call. `key` is what limits count by; None where only the address is known."""

    key: str | None
    consent_pk: int | None
    person_pk: int | None


def foreign_origin(request: HttpRequest) -> str | None:
    """The registered origin of another site's page, or None for our own pages and for backends.

    Raises `OriginRefused` for every other page. `null` is what our own pages send under their referrer policy, and a
    page cannot forge what `Sec-Fetch-Site` says beside it.
    """
    origin = request.headers.get("Origin")
    if origin is None or origin in (_own_origin(request), *settings.CSRF_TRUSTED_ORIGINS):
        return None
    if origin == "null" and request.headers.get("Sec-Fetch-Site") == "same-origin":
        return None
    if origin == "null" or app_of_origin(origin) is None:
        raise OriginRefused
    return origin


def identify(request: HttpRequest, purpose: Purpose, origin: str | None) -> Caller:
    """Whose live consent to `purpose` covers this call; raises `CsrfRefused` or `ConsentRequired`.

    A token wins over a session, and another site's page never acts with a session.
    """
    required = consents.are_required()
    token = request.headers.get(HEADER)
    if token is not None:
        return _with_token(request, token, purpose, origin, required)
    person: Any = getattr(request, "user", None) if origin is None else None
    if person is None or not person.is_authenticated or not person.is_active:
        if required:
            raise ConsentRequired(consent_url=consent_url(purpose, origin))
        return Caller(None, None, None)
    _check_csrf(request)
    return _with_session(person, purpose, required)


def require_consent_still(caller: Caller, purpose: Purpose, origin: str | None) -> None:
    """What an agent answers after the consent was withdrawn goes to nobody; raises `ConsentRequired`."""
    if caller.consent_pk is not None and consents.was_withdrawn(caller.consent_pk):
        raise ConsentRequired(consent_url=consent_url(purpose, origin))


def consent_url(purpose: Purpose, origin: str | None, destination_id: str | None = None) -> str:
    """Where a person agrees to `purpose`; a site adds the `return_url` that it wants the token at."""
    query = {"origin": origin, "purposes": purpose.value} if origin else {"purposes": purpose.value}
    if destination_id is not None:
        query["destination"] = destination_id
    return f"{settings.BASE_URL}/profile/consent/?{urlencode(query)}"


def _own_origin(request: HttpRequest) -> str:
    return f"{'https' if request.is_secure() else 'http'}://{request.get_host()}"


def _with_token(request: HttpRequest, token: str, purpose: Purpose, origin: str | None, required: bool) -> Caller:
    from_page = request.headers.get("Origin") is not None
    # a token is a site's: on a page of ours it has no business, and no origin to be bound to
    found = None
    if len(token) <= LONGEST_TOKEN and not (from_page and origin is None):
        found = consents.of_token(token, purpose, origin)
    if found is None:
        if required:
            raise ConsentRequired(consent_url=consent_url(purpose, origin))
        return Caller(None, None, None)
    return Caller(f"consent {found.consent_pk}", found.consent_pk, found.person_pk)


def _with_session(person: User, purpose: Purpose, required: bool) -> Caller:
    pk = consents.own(person, purpose)
    if pk is None and required:
        raise ConsentRequired(consent_url=consent_url(purpose, None))
    return Caller(f"person {person.pk}", pk, person.pk)


def _check_csrf(request: HttpRequest) -> None:
    check = CSRFCheck(lambda _: None)  # type: ignore[arg-type]  # only process_view is used
    check.process_request(request)
    if check.process_view(request, None, (), {}):  # type: ignore[arg-type]  # as DRF itself calls it
        raise CsrfRefused
