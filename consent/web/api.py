"""The owner's JSON addresses about requests and grants (contract 2): a session with its CSRF token, never a token."""

from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.http import HttpResponse
from pydantic import Field
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.answers import json_answer
from accounts.authentication import require_recent_sign_in
from accounts.errors import InvalidRequest, checked
from consent import actions, proofs, queries
from consent.schemas import ApproveBody, DenyBody, ExportBody, Strict
from consent.web import reads

if TYPE_CHECKING:
    from accounts.models import User


class Nothing(Strict):
    """A query or a body without members."""


class ChainQuery(Strict):
    """Which entry of the chain the person's browser has seen last."""

    after: str = Field("0", pattern=r"^(0|[1-9][0-9]{0,8})\Z")


class OwnerView(APIView):
    """A signed-in person's own address, for bodies up to the size of a sealed export.

    The method is checked before the session (contract 1.1); a query is refused where none is taken.
    """

    query: type[Strict] = Nothing
    asked: Strict

    body_limit = settings.OWNER_BODY_LIMIT
    http_method_names = ["get", "head", "post", "put"]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method not in self.allowed_methods or not hasattr(self, str(request.method).lower()):
            raise MethodNotAllowed(str(request.method))
        super().initial(request, *args, **kwargs)
        self.asked = checked(self.query, request.query_params.dict())


def _person(request: Request) -> "User":
    return cast("User", request.user)


def _status(request: Request, request_id: str) -> HttpResponse:
    return json_answer(queries.status_for_owner(request_id=request_id, user=_person(request)))


class RequestDataView(OwnerView):
    """`GET /consent/requests/{request_id}/data`: what the browser checks, shows and seals to."""

    def get(self, request: Request, request_id: str) -> HttpResponse:
        return json_answer(queries.request_data(user=_person(request), request_id=request_id))


class DecisionView(OwnerView):
    """`POST /consent/requests/{request_id}/decision`: approve or deny; answers the status body."""

    def post(self, request: Request, request_id: str) -> HttpResponse:
        decision = request.data.get("decision") if isinstance(request.data, dict) else None
        if decision == "deny":
            denial = checked(DenyBody, request.data)
            actions.deny(request_id=request_id, by=_person(request), reason=denial.reason or "")
        elif decision == "approve":
            approval = checked(ApproveBody, request.data)
            _require_fresh_sign_in_for_restricted(request, request_id)
            actions.approve(request_id=request_id, by=_person(request), body=approval)
        else:
            raise InvalidRequest(
                "These members do not fit: decision.",
                errors=[
                    {"field": "decision", "code": "literal_error", "message": "Input should be 'approve' or 'deny'"}
                ],
            )
        return _status(request, request_id)


def _require_fresh_sign_in_for_restricted(request: Request, request_id: str) -> None:
    """Restricted data leaves only soon after a sign-in. What was decided already says so instead."""
    asked = queries.request_data(user=_person(request), request_id=request_id)
    if asked["status"] == "pending" and asked["scope_entry"]["sensitivity_tier"] == "restricted":
        require_recent_sign_in(request._request)


class OutdatedCopiesView(OwnerView):
    """`GET /consent/grants/outdated`: what the browser seals anew; {"grants": [reads.outdated_copies]}."""

    def get(self, request: Request) -> HttpResponse:
        return json_answer({"grants": reads.outdated_copies(_person(request))})


class ChainView(OwnerView):
    """`GET /consent/history/chain?after=`: the person's audit chain, for their own browser to compute again."""

    query = ChainQuery

    def get(self, request: Request) -> HttpResponse:
        return json_answer(proofs.chain_of(user=_person(request), after=int(cast("ChainQuery", self.asked).after)))


class GrantMoveView(OwnerView):
    """`POST /consent/grants/{grant_id}/revoke | pause | resume`; answers the status body."""

    move = ""

    def post(self, request: Request, grant_id: str) -> HttpResponse:
        checked(Nothing, request.data)
        move = {"revoke": actions.revoke, "pause": actions.pause, "resume": actions.resume}[self.move]
        return _status(request, move(grant_id=grant_id, by=_person(request)))


class GrantExportView(OwnerView):
    """`PUT /consent/grants/{grant_id}/export`: a newer revision under a continuous grant; answers the status body."""

    def put(self, request: Request, grant_id: str) -> HttpResponse:
        body = checked(ExportBody, request.data)
        return _status(request, actions.refresh_export(grant_id=grant_id, by=_person(request), body=body))
