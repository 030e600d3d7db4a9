"""What hosts call: metadata, registration, tokens, revocation (RFC 9728, 8414, 7591, 6749, 7009).

Hosts that run in a web page call these too, so any origin may, without credentials: nothing here knows a cookie.
"""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn
from urllib.parse import parse_qsl

import orjson
from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from common.admission.requests import JSONRequest
from common.admission.views import ProgramView
from common.json_bodies import json_answer
from common.limits import Count, Limit, count, headers
from common.network import client_address, network_of
from common.problems import InvalidRequest, TooManyRequests, UnsupportedMediaType
from developers.oauth.actions import Tokens, redeem_code, refresh_tokens, revoke_by_host
from developers.oauth.clients import known_client, register_client
from developers.oauth.errors import InvalidClient, UnsupportedGrantType
from developers.oauth.resources import MCP, REST, resource_at, resource_metadata, server_metadata

_HOUR, _DAY = 3600, 86400
_FORM = "application/x-www-form-urlencoded"
_REGISTRATIONS = Limit("client-registrations", 60, _HOUR)
_ALL_REGISTRATIONS = Limit("client-registrations-of-all", 3000, _HOUR)
_CHALLENGE = {"WWW-Authenticate": 'Basic realm="oauth"'}  # for who came with an `Authorization` (RFC 6749 5.2)
_CROSS_ORIGIN = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "WWW-Authenticate, Retry-After"}
_PREFLIGHT = {
    "Access-Control-Allow-Headers": "Content-Type, Authorization, MCP-Protocol-Version",
    "Access-Control-Max-Age": str(_DAY),
}


class HostView(ProgramView):
    """An address that hosts call without a token. A refusal has the members of OAuth beside those of the problem."""

    authentication_classes = ()
    http_method_names = ["get", "head", "post", "options"]

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]
        allowed = ", ".join(self.allowed_methods)
        return HttpResponse(status=204, headers={**_PREFLIGHT, "Access-Control-Allow-Methods": allowed})

    def get_exception_handler(self) -> Callable[..., Any]:
        handle = super().get_exception_handler()

        def with_members_of_oauth(error: Exception, context: dict[str, Any]) -> Any:
            answer = handle(error, context)
            if answer is not None:
                problem = orjson.loads(answer.content)
                members = {"error": problem["code"], "error_description": problem["detail"]}
                answer.content = orjson.dumps({**members, **problem})
                answer.headers["Content-Type"] = "application/json"
            return answer

        return with_members_of_oauth

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        for name, value in _CROSS_ORIGIN.items():
            answer.headers[name] = value
        return answer


class ResourceMetadata(HostView):
    """The document of the resource whose path follows; without one, that of the tools, for hosts that look there."""

    path = MCP

    def get(self, request: HttpRequest) -> HttpResponse:
        return json_answer(resource_metadata(resource_at(self.path)))


class RestMetadata(ResourceMetadata):
    """The same for the REST addresses."""

    path = REST


class ServerMetadata(HostView):
    """The document of the authorization server, at the root alone: the issuer has no path."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return json_answer(server_metadata())


class Registrations(BaseThrottle):
    """How many clients one network registers, and all of them together."""

    def allow_request(self, request: Request, view: Any) -> bool:
        if request.method == "OPTIONS":  # a browser asks before each one that it sends
            return True
        network = network_of(client_address(request))
        view.counts = [count(_REGISTRATIONS, network)] if network else []
        for found in view.counts:  # before all are counted together: what one network is refused takes nobody's place
            found.require(TooManyRequests)
        view.counts = [*view.counts, count(_ALL_REGISTRATIONS, "all")]
        view.counts[-1].require(TooManyRequests)
        return True


class Registration(HostView):
    """A host describes itself and is given an ID. No secret: PKCE is what tells it."""

    throttle_classes = (Registrations,)
    body_limit = 16 * 1024
    counts: list[Count] = []  # replaced, never changed

    def limit_headers(self, status: int) -> Mapping[str, str]:
        return headers(self.counts)

    def post(self, request: HttpRequest) -> HttpResponse:
        _, answer = register_client(self.request.data)
        return json_answer(answer, status=201)


class FormView(HostView):
    """A form as RFC 6749 has it: each member once, unknown ones passed over. The client says who it is in it."""

    def check_content(self, request: JSONRequest) -> None:
        if request.method == "OPTIONS":
            return
        if request.content_type.partition(";")[0].strip().lower() != _FORM:
            self.unsupported_media_type(request)
        request.check_size(self.body_limit)

    def unsupported_media_type(self, request: JSONRequest) -> NoReturn:
        raise UnsupportedMediaType(f"Send the body as {_FORM}.")

    def form(self) -> dict[str, str]:
        """The members that say something. Raises `InvalidRequest`."""
        try:
            pairs = parse_qsl(self.request.content.decode(), strict_parsing=True, max_num_fields=50, errors="strict")
        except ValueError:
            raise InvalidRequest("The form cannot be read.") from None
        if len({name for name, _ in pairs}) != len(pairs):
            raise InvalidRequest("Give each member of the form once.")
        return {name: value for name, value in pairs if "\x00" not in value}

    def client_id(self, form: Mapping[str, str]) -> str:
        """The client that calls. Raises `InvalidClient` where it is not known, or shows a secret: none has one."""
        client_id = form.get("client_id", "")
        if "HTTP_AUTHORIZATION" in self.request.META or "client_secret" in form or known_client(client_id) is None:
            raise InvalidClient(
                "Name the client by client_id alone; register it first. No client has a secret here.",
                headers=_CHALLENGE if "HTTP_AUTHORIZATION" in self.request.META else {},
            )
        return client_id


class Token(FormView):
    """Tokens for a code, or the next ones for a refresh token."""

    def post(self, request: HttpRequest) -> HttpResponse:
        form = self.form()
        client_id = self.client_id(form)
        match form.get("grant_type"):
            case "authorization_code":
                tokens = redeem_code(
                    client_id=client_id,
                    code=form.get("code", ""),
                    verifier=form.get("code_verifier", ""),
                    redirect_uri=form.get("redirect_uri"),
                    resource=form.get("resource"),
                )
            case "refresh_token":
                tokens = refresh_tokens(
                    client_id=client_id, refresh=form.get("refresh_token", ""), resource=form.get("resource")
                )
            case None:
                raise InvalidRequest("grant_type is missing.")
            case _:
                raise UnsupportedGrantType()
        return json_answer(_given(tokens))


def _given(tokens: Tokens) -> dict[str, Any]:
    return {
        "access_token": tokens.access,
        "token_type": "Bearer",
        "expires_in": tokens.expires_in,
        "refresh_token": tokens.refresh,
        "scope": " ".join(tokens.permissions),
    }


class Revocation(FormView):
    """A host gives up what it was allowed: either token ends both, and all that came of the same authorization."""

    def post(self, request: HttpRequest) -> HttpResponse:
        form = self.form()
        revoke_by_host(client_id=self.client_id(form), secret=form.get("token", ""))
        return json_answer({})
