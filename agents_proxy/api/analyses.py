"""The addresses of analyses (contract 4.3): a signed-in person's own; parse, call one action or query, answer."""

import json
from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.http import HttpResponse
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.answers import json_answer
from accounts.errors import InvalidRequest, checked
from agents_proxy import analyses, workflow
from agents_proxy.api.limited import LimitedPost
from agents_proxy.api.schemas_analyses import AnalysisBody, ListQuery, Nothing
from agents_proxy.models import Run
from common.limits import Count

if TYPE_CHECKING:
    from accounts.models import User


class OwnView(APIView):
    """The method is checked before the session, as everywhere (contract 1.1)."""

    body_limit = settings.BODY_LIMIT
    http_method_names = ["get", "head", "post", "delete"]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method not in self.allowed_methods or not hasattr(self, str(request.method).lower()):
            raise MethodNotAllowed(str(request.method))
        super().initial(request, *args, **kwargs)


def _person(request: Request) -> "User":
    return cast("User", request.user)


def _query(request: Request) -> dict[str, Any]:
    for name, values in request.query_params.lists():
        if len(values) != 1:
            raise InvalidRequest(f"The query names {name[:64]} more than once.")
    found: dict[str, Any] = request.query_params.dict()
    return found


def _nothing_else(request: Request) -> None:
    """An address without a query, and without a body but `{}`."""
    checked(Nothing, _query(request))
    if request.method != "GET" and request._request.body:
        checked(Nothing, request.data)


def _accepted(run: Run) -> HttpResponse:
    where = f"/api/a2a/analyses/{run.analysis_id}"
    body = {"analysisId": run.analysis_id, "status": run.status, "statusUrl": where}
    return json_answer(body, status=202, headers={"Location": where})


class Analyses(LimitedPost, OwnView):
    def get(self, request: Request) -> HttpResponse:
        query = checked(ListQuery, _query(request))
        return json_answer(analyses.analyses_of(_person(request), cursor=query.cursor, limit=query.limit))

    def post(self, request: Request) -> HttpResponse:
        checked(Nothing, _query(request))
        body = checked(AnalysisBody, request.data)
        run = workflow.start_analysis(by=_person(request), submitted=body.submitted())
        return _accepted(run)

    def standing(self, request: Request) -> Count:
        return workflow.unfinished_analyses(_person(request))


class Analysis(OwnView):
    def get(self, request: Request, analysis_id: str) -> HttpResponse:
        _nothing_else(request)
        return json_answer(analyses.status_of(_person(request), analysis_id))

    def delete(self, request: Request, analysis_id: str) -> HttpResponse:
        _nothing_else(request)
        workflow.delete_analysis(by=_person(request), analysis_id=analysis_id)
        return HttpResponse(status=204)


class Cancel(OwnView):
    def post(self, request: Request, analysis_id: str) -> HttpResponse:
        _nothing_else(request)
        return json_answer(analyses.status_body(workflow.cancel_analysis(by=_person(request), analysis_id=analysis_id)))


class Retry(OwnView):
    def post(self, request: Request, analysis_id: str, agent: str) -> HttpResponse:
        _nothing_else(request)
        return _accepted(workflow.retry_step(by=_person(request), analysis_id=analysis_id, agent=agent))


class Raw(OwnView):
    """Agents' answers as they came; the standard library writes numbers of any length."""

    def get(self, request: Request, analysis_id: str) -> HttpResponse:
        _nothing_else(request)
        written = json.dumps(analyses.raw_of(_person(request), analysis_id))
        return HttpResponse(written, content_type="application/json")
