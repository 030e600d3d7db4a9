"""The views of JSON addresses. Which check stands where, the package says."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NoReturn, TypeVar, cast

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from drf_spectacular.utils import OpenApiParameter
from pydantic import BaseModel
from rest_framework import exceptions as drf
from rest_framework.request import Request
from rest_framework.views import APIView

from common import problems
from common.admission.queries import read_query
from common.admission.requests import JSONRequest
from common.admission.schemas import Nothing
from common.operations import Refusal

Model = TypeVar("Model", bound=BaseModel)

_WITHOUT_BODY = ("GET", "HEAD", "OPTIONS")


class JSONView(APIView):
    """An address that takes JSON and answers JSON. A handler has its body and query from `body` and `query`."""

    request: JSONRequest
    http_method_names = ["get", "post", "put", "patch", "delete"]  # of these, the methods that the view has
    tag: ClassVar[str] = ""  # where the documentation lists its operations
    path_parameters: ClassVar[Sequence[OpenApiParameter]] = ()  # described for each operation whose path has them
    body_limit: ClassVar[int] = settings.BODY_LIMIT  # bytes
    body_required: ClassVar[bool] = False  # whether no body at all is refused, but of DELETE; else it stands for `{}`
    takes_query: ClassVar[bool] = False  # whether a handler reads the query; else every member is refused

    @classmethod
    def common_refusals(cls, method: str, path: str, *, takes_body: bool) -> list[Refusal]:
        """What is refused before a handler runs, for the OpenAPI document; `takes_body`: one is described."""
        found: list[Refusal] = [
            problems.InvalidRequest,
            problems.NotFound,
            problems.MethodNotAllowed,
            problems.TemporarilyUnavailable,
        ]
        return [*found, problems.UnsupportedMediaType, problems.PayloadTooLarge] if takes_body else found

    @classmethod
    def who_may_call(cls, method: str) -> str:
        """A sentence for the OpenAPI document; none where anybody may."""
        return ""

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> JSONRequest:
        return JSONRequest(
            request,
            parsers=self.get_parsers(),
            authenticators=self.get_authenticators(),
            negotiator=self.get_content_negotiator(),
            parser_context=self.get_parser_context(request),
        )

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raise the first refusal that applies; the order is that of contract 1.1."""
        if request.method not in self.allowed_methods:
            self.http_method_not_allowed(request)
        self.perform_authentication(request)
        self.check_permissions(request)
        self.check_content(self.request)
        self.check_throttles(request)
        if not self.takes_query:
            self.query(Nothing)

    def perform_authentication(self, request: Request) -> None:
        """As REST framework, which would find out by failed look-ups first that nobody has asked for `request.user`."""
        for authenticator in request.authenticators or ():
            found = authenticator.authenticate(request)
            if found is not None:
                request.user, request.auth = cast("Any", found)
                break

    def let_in_again(self, request: JSONRequest) -> None:
        """Refuse who lost meanwhile what let them in: a body may be sent slowly, so as to act with it afterwards."""
        sent = request._request
        if hasattr(sent, "session"):
            sent.session = type(sent.session)(sent.session.session_key)
            sent.user = get_user(sent)
        self.perform_authentication(request)
        self.check_permissions(request)

    def check_content(self, request: JSONRequest) -> None:
        """Raise where the body is of another media type, or over `body_limit`."""
        if request.method in _WITHOUT_BODY or not (request.needs_body or request.has_content):
            return
        if self.get_content_negotiator().select_parser(request, request.parsers or ()) is None:
            self.unsupported_media_type(request)
        request.check_size(self.body_limit)

    def unsupported_media_type(self, request: JSONRequest) -> NoReturn:
        raise drf.UnsupportedMediaType(request.content_type)

    def query(self, model: type[Model]) -> Model:
        """The query as `model`; unknown and repeated members are refused."""
        return read_query(self.request, model)

    def body(
        self, model: type[Model], *, special: Mapping[str, problems.Kind | type[problems.Problem]] | None = None
    ) -> Model:
        """The JSON body as `model`, where nothing stands in the query; `special` as in `common.problems.checked`."""
        if self.takes_query:
            self.query(Nothing)
        return problems.checked(model, self.request.data, special=special)

    def limit_headers(self, status: int) -> Mapping[str, str]:
        """`RateLimit-Policy` and `RateLimit` of an answer with this status, where the address is limited."""
        return {}

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        for name, value in self.limit_headers(answer.status_code).items():
            answer.headers[name] = value
        return answer

    def raise_uncaught_exception(self, exc: Exception) -> NoReturn:
        raise exc  # REST framework would look for a negotiated renderer first, and nothing is negotiated


class ProgramView(JSONView):
    """An address for programs alone: `Allow` only where a method is refused, and a body wherever one may come."""

    body_required = True

    @property
    def default_response_headers(self) -> dict[str, str]:
        return {}

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> NoReturn:
        allowed = ", ".join(self.allowed_methods)
        raise problems.MethodNotAllowed(f"This address takes {allowed}.", headers={"Allow": allowed})

    def unsupported_media_type(self, request: JSONRequest) -> NoReturn:
        raise problems.UnsupportedMediaType("Send the body as application/json in UTF-8, not compressed.")
