"""Addresses that a signed-in person's own pages call, and other sites and backends with a consent token (contract 4.2).

With a token the same rules hold as at the agents themselves: a page of another site needs a registered origin and never
acts with a session; a backend sends no origin; nothing needs a CSRF token. Refusals are problems.
"""

from collections.abc import Sequence
from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.authentication import SignedIn
from accounts.models import User
from agents_proxy.errors import AgreementRequired, OriginNotRegistered, OriginRefused
from agents_proxy.owner_api import ANALYSES, CONSENT, SmallOwnerView
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.actions import Covered
from agents_proxy.processing_consent.schemas import AgentSubject
from agents_proxy.proxy import callers, rpc
from agents_proxy.states import Purpose
from common.json_bodies import json_answer
from common.operations import Refusal, operation
from common.problems import MethodNotAllowed


class TokenOrSession(SignedIn):
    """Who agreed to the token, where there is one, with what it covers as `request.auth`; else the session's user."""

    def authenticate(self, request: Request) -> Any:
        view: SharedView = request.parser_context["view"]
        view.origin = _foreign_origin(request._request)
        token = request._request.headers.get(callers.HEADER)
        if token is None and view.origin is None:
            return super().authenticate(request)
        covered = _covered(request._request, token, view.origin)
        missing = view.missing(covered)
        if covered is None or missing is not None:
            raise AgreementRequired(consent_url=callers.consent_url(missing or Purpose.PROFILE, view.origin))
        return User.objects.get(pk=covered.person_pk), covered


class SharedScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its metaclass is untyped
    """A session, or a consent token in its place."""

    target_class = "agents_proxy.proxy.shared_views.TokenOrSession"
    name = "agentConsent"

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[Any]]]:
        session: dict[str, list[Any]] = {"session": []}
        return [session if auto_schema.method == "GET" else session | {"csrf": []}, {"agentConsent": []}]

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": callers.HEADER,
            "description": "The consent token that the person's agreement at `consent_url` came back with.",
        }


class SharedView(SmallOwnerView):
    """`self.person` is whose data it is about, and `self.under` the consent that a token stands for."""

    authentication_classes: Sequence[type[BaseAuthentication]] = (TokenOrSession,)
    http_method_names = ["get", "head", "post", "put", "delete", "options"]
    tag = ANALYSES
    origin: str | None = None  # of another site's page, where it is registered

    @classmethod
    def common_refusals(cls, method: str, path: str, *, takes_body: bool) -> list[Refusal]:
        found = super().common_refusals(method, path, takes_body=takes_body)
        return [*found, AgreementRequired, OriginNotRegistered]

    @classmethod
    def who_may_call(cls, method: str) -> str:
        return "A signed-in person's own, or, with a consent token, what was made with that."

    def needs(self) -> Sequence[Purpose]:
        """What a token has to cover for this call; none: whatever it covers."""
        return ()

    def missing(self, covered: Covered | None) -> Purpose | None:
        """The first purpose that a token lacks for this call; None where it lacks none."""
        return next((purpose for purpose in self.needs() if covered is None or purpose not in covered.purposes), None)

    @property
    def covered(self) -> Covered | None:
        """What the token covers; None for a session."""
        return cast("Covered | None", self.request.auth)

    @property
    def under(self) -> int | None:
        """The primary key of the consent behind the token; None for a session, which reaches all of its person's."""
        return self.covered.consent_pk if self.covered else None

    @property
    def app_pk(self) -> int | None:
        """The primary key of the app behind the token; None for a session."""
        return self.covered.app_pk if self.covered else None

    @property
    def allowed_methods(self) -> list[str]:
        return [name for name in super().allowed_methods if name != "OPTIONS"]  # answered to preflights alone

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method != "OPTIONS":
            super().initial(request, *args, **kwargs)
        elif "Access-Control-Request-Method" in request.headers:
            self.origin = _foreign_origin(request._request)
        else:
            raise MethodNotAllowed(headers={"Allow": ", ".join(self.allowed_methods)})

    def options(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]  # REST framework answers with a `Response`
        response = rpc.preflight()
        response.headers["Access-Control-Allow-Methods"] = ", ".join(self.allowed_methods)
        return response

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        return rpc.allow(answer, self.origin) if self.origin is not None else answer


class CallersSubject(SharedView):
    """Whom the caller's prompts may name: what the token's consent names, or what the person's own consents do."""

    @operation(
        name="getSubject",
        tag=CONSENT,
        summary="Whom prompts may name",
        description="The verified address and the verified number that the consent names: one of each at most, as far "
        "as its purposes use them. In a session it is what one's own consents name together.",
        answers={200: AgentSubject},
    )
    def get(self, request: Request) -> HttpResponse:
        if self.under is None:
            return json_answer(consents.own_subject(self.person).body())
        return json_answer(consents.named_subject(self.under).body())


def _foreign_origin(request: HttpRequest) -> str | None:
    try:
        return callers.foreign_origin(request)
    except OriginRefused:
        raise OriginNotRegistered() from None


def _covered(request: HttpRequest, token: str | None, origin: str | None) -> Covered | None:
    """The live consent behind a token. On a page of ours a token has no business, and no origin to be bound to."""
    on_our_page = origin is None and request.headers.get("Origin") is not None
    if token is None or len(token) > callers.LONGEST_TOKEN or on_our_page:
        return None
    return consents.of_token(token, None, origin)
