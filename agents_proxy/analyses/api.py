"""The addresses of analyses (contract 4.3): a signed-in person's own; parse, call one action or query, answer."""

import json

from django.http import HttpResponse
from rest_framework.request import Request

from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import queries as analysis_queries
from agents_proxy.analyses.models import Run
from agents_proxy.analyses.schemas import AnalysisBody, ListQuery
from agents_proxy.owner_api import LimitedPost, SmallOwnerView
from common.admission.shapes import Nothing
from common.json_bodies import json_answer
from common.limits import Count


def _accepted(run: Run) -> HttpResponse:
    where = f"/api/a2a/analyses/{run.analysis_id}"
    body = {"analysisId": run.analysis_id, "status": run.status, "statusUrl": where}
    return json_answer(body, status=202, headers={"Location": where})


class Analyses(LimitedPost, SmallOwnerView):
    takes_query = True

    def get(self, request: Request) -> HttpResponse:
        query = self.query(ListQuery)
        return json_answer(analysis_queries.analyses_of(self.person, cursor=query.cursor, limit=query.limit))

    def post(self, request: Request) -> HttpResponse:
        body = self.body(AnalysisBody)
        run = analysis_actions.start_analysis(by=self.person, submitted=body.submitted())
        return _accepted(run)

    def count(self) -> Count:
        return analysis_actions.unfinished_analyses(self.person)


class Analysis(SmallOwnerView):
    def get(self, request: Request, analysis_id: str) -> HttpResponse:
        return json_answer(analysis_queries.status_of(self.person, analysis_id))

    def delete(self, request: Request, analysis_id: str) -> HttpResponse:
        self.body(Nothing)
        analysis_actions.delete_analysis(by=self.person, analysis_id=analysis_id)
        return HttpResponse(status=204)


class Cancel(SmallOwnerView):
    def post(self, request: Request, analysis_id: str) -> HttpResponse:
        self.body(Nothing)
        return json_answer(
            analysis_queries.status_body(analysis_actions.cancel_analysis(by=self.person, analysis_id=analysis_id))
        )


class Retry(SmallOwnerView):
    def post(self, request: Request, analysis_id: str, agent: str) -> HttpResponse:
        self.body(Nothing)
        return _accepted(analysis_actions.retry_step(by=self.person, analysis_id=analysis_id, agent=agent))


class Raw(SmallOwnerView):
    """Agents' answers as they came; the standard library writes numbers of any length."""

    def get(self, request: Request, analysis_id: str) -> HttpResponse:
        written = json.dumps(analysis_queries.raw_of(self.person, analysis_id))
        return HttpResponse(written, content_type="application/json")
