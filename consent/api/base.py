"""What every developer address does before its own work: the checks of contract 1.1, in their order.

The order is part of the contract, so `dispatch` is written out here instead of left to DRF: path and method, browser
path, token, suspension, permission, media type, size, limits, body. DRF's own request object is only made where a
refusal is rendered; a hot read pays for nothing that it does not use.
"""

import re
from typing import Any, ClassVar, TypeVar

from django.conf import settings
from django.http import HttpRequest, UnreadablePostError
from django.http.response import HttpResponseBase
from pydantic import BaseModel
from rest_framework.views import APIView

from accounts.answers import strict_json
from accounts.errors import (
    FieldError,
    InvalidRequest,
    MethodNotAllowed,
    PayloadTooLarge,
    Problem,
    UnsupportedMediaType,
    checked,
)
from common.limits import headers
from consent import guessing
from consent.limits import Meter
from developers.authentication import AppContext, Beside, DeveloperToken, authenticate, query_pairs
from developers.errors import AppSuspended, BrowserPathRefused, InsufficientScope

Model = TypeVar("Model", bound=BaseModel)

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}\Z")
_UNFIT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_SHORT_TEXT = re.compile(r"[^\x00-\x1f\x7f]{1,128}\Z")


class PublicView(APIView):
    """An address without a token: method and query are checked, nothing else."""

    authentication_classes = []
    http_method_names = ["get"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            self.admit(request)
            handler = getattr(self, str(request.method).lower())
            answer: HttpResponseBase = handler(request, *args, **kwargs)
        except Exception as error:
            self.request = self.initialize_request(request)
            answer = self.handle_exception(error)
        for name, value in self.limit_headers(answer.status_code).items():
            answer.headers[name] = value
        return answer

    def limit_headers(self, status: int) -> dict[str, str]:
        """`RateLimit-Policy` and `RateLimit` of an answer with this status, where the address is limited."""
        return {}

    def admit(self, request: HttpRequest) -> None:
        """Raise the first refusal that applies."""
        if str(request.method).lower() not in self.http_method_names:
            allowed = ", ".join(name.upper() for name in self.http_method_names)
            raise MethodNotAllowed(f"This address takes {allowed}.", headers={"Allow": allowed})


class DeveloperView(PublicView):
    """An address that a developer's program calls with its token; `self.app` is who calls.

    `needs` names the permissions of which the token must carry one.
    """

    authentication_classes = [DeveloperToken]
    body_limit = settings.BODY_LIMIT
    needs: ClassVar[frozenset[str]]
    app: AppContext

    def __init__(self, **initial: Any) -> None:
        super().__init__(**initial)
        self.meter = Meter()

    def limit_headers(self, status: int) -> dict[str, str]:
        return headers(self.meter.counts.values())

    def admit(self, request: HttpRequest) -> None:
        super().admit(request)
        self.refuse_browser(request)
        self.app = app = authenticate(request, self.beside)
        request.auth = app  # type: ignore[attr-defined]  # where DRF's views have it too
        if app.suspended:
            raise AppSuspended("Write to the operator of this service.")
        if not self.needs & app.permissions:
            raise InsufficientScope(f"The token needs the permission {' or '.join(sorted(self.needs))}.")
        if request.method == "POST":
            _check_media_type(request)
            _check_size(request, self.body_limit)
        self.limit(request)

    def beside(self, request: HttpRequest) -> Beside | None:
        """What to read beside a token that was good before. It may be good no more, so nothing is refused here."""
        return None

    def refuse_browser(self, request: HttpRequest) -> None:
        """Raise where the call comes from a web page."""
        if "HTTP_ORIGIN" in request.META or "HTTP_SEC_FETCH_SITE" in request.META:
            raise BrowserPathRefused("A developer token must not travel through a browser.")

    def limit(self, request: HttpRequest) -> None:
        """Raise where this caller calls too often."""


class AskingView(DeveloperView):
    """An address that names a person, for which apps are limited; a call may say on whose behalf it comes."""

    def limit_headers(self, status: int) -> dict[str, str]:
        if hasattr(self, "app") and status < 500:  # a refusal that came before the limits costs a read more
            self.look_at_limits(self.meter)
        return super().limit_headers(status)

    def look_at_limits(self, meter: Meter) -> None:
        """Note the limits of the app that this call has not met."""
        if guessing.UNKNOWN_USERS not in meter.counts:
            meter.note(guessing.look(self.app.app_pk, meter.hint))


def arguments(request: HttpRequest, model: type[Model]) -> Model:
    """The query string as `model`, without the token. Unknown and repeated members are refused."""
    given: dict[str, Any] = {}
    for name, value in query_pairs(request):
        if name == "token":
            continue
        if name in given:
            raise _unfit(name, "repeated", "Give this member once.")
        if _UNFIT.search(name) or _UNFIT.search(value):
            raise _unfit(_UNFIT.sub("?", name), "unreadable", "Only UTF-8 text without control characters.")
        field = model.model_fields.get(name)
        given[name] = int(value) if field and field.annotation is int and _WHOLE_NUMBER.match(value) else value
    return checked(model, given)


def body(request: HttpRequest, model: type[Model], *, special: dict[str, type[Problem]] | None = None) -> Model:
    """The JSON body as `model`; `special` as in `accounts.errors.checked`."""
    arguments(request, _Nothing)
    return checked(model, strict_json(_read(request)), special=special)


def no_arguments(request: HttpRequest) -> None:
    """Refuse every member of the query but the token."""
    if request.META.get("QUERY_STRING"):
        arguments(request, _Nothing)


def idempotency_key(request: HttpRequest) -> str | None:
    """The `Idempotency-Key` header, or None."""
    key = _short_header(request, "Idempotency-Key", "idempotency_key")
    if key is None:
        return None
    try:
        text = key.encode("latin-1").decode()  # WSGI hands header bytes over as Latin-1 (PEP 3333)
    except UnicodeError:
        text = ""
    if not (text.strip() and text.isprintable()):
        raise _unfit("Idempotency-Key", "idempotency_key", "1 to 128 visible characters, in UTF-8.")
    return text


def client_hint(request: HttpRequest) -> str:
    """The `X-Client-Hint` header: whatever tells the app's own callers apart; empty without one."""
    return _short_header(request, "X-Client-Hint", "client_hint") or ""


def _short_header(request: HttpRequest, name: str, code: str) -> str | None:
    value: str | None = request.META.get(f"HTTP_{name.upper().replace('-', '_')}")
    if value is not None and not _SHORT_TEXT.match(value):
        raise _unfit(name, code, "1 to 128 characters without control characters.")
    return value


def prefers_jose(request: HttpRequest) -> bool:
    """Whether `Accept` prefers application/jose over JSON. Wildcards alone mean JSON."""
    weights = {"application/jose": 0.0, "application/json": 0.0}
    for part in request.META.get("HTTP_ACCEPT", "").lower().split(","):
        kind, *parameters = (piece.strip() for piece in part.split(";"))
        if kind in weights:
            weights[kind] = max(weights[kind], _weight(parameters))
    return weights["application/jose"] > weights["application/json"]


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        if parameter.startswith("q="):
            return float(parameter[2:]) if re.fullmatch(r"q=[01](\.[0-9]{0,3})?", parameter) else 0.0
    return 1.0


class _Nothing(BaseModel):
    model_config = {"extra": "forbid"}


def _unfit(field: str, code: str, message: str) -> InvalidRequest:
    error: FieldError = {"field": field, "code": code, "message": message}
    return InvalidRequest(f"{field} does not fit.", errors=[error])


def _check_media_type(request: HttpRequest) -> None:
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "identity").lower()
    charset = (request.content_params or {}).get("charset", "utf-8").strip('"').lower()
    if request.content_type != "application/json" or charset not in ("utf-8", "utf8") or encoding != "identity":
        raise UnsupportedMediaType("Send the body as application/json in UTF-8, not compressed.")


def _check_size(request: HttpRequest, limit: int) -> None:
    length = request.META.get("CONTENT_LENGTH") or "0"
    if "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
        # Django reads as much as Content-Length says, which here is nothing; the server ends the stream by itself
        request._body = request.META["wsgi.input"].read(limit + 1)
        length = str(len(request._body))
    if length.isdecimal() and int(length[:20]) > limit:
        raise PayloadTooLarge(f"This address takes at most {limit} bytes.")


def _read(request: HttpRequest) -> bytes:
    try:
        return request.body
    except UnreadablePostError:
        raise InvalidRequest("The body ended early.") from None
