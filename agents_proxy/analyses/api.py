"""The addresses of analyses (contract 4.3): a person's own, or those of a consent token; parse, call, answer."""

import json
from collections.abc import Sequence

from django.http import HttpResponse
from rest_framework.request import Request

from agents_proxy.agents import ANALYSIS_PURPOSES
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import queries as analysis_queries
from agents_proxy.analyses.models import Run
from agents_proxy.analyses.schemas import AnalysisBody, ListQuery
from agents_proxy.budgets import Budget, standings
from agents_proxy.owner_api import LimitedPost
from agents_proxy.proxy.shared_views import SharedView
from agents_proxy.states import Purpose
from common.admission.shapes import Nothing
from common.json_bodies import json_answer
from common.limits import Count


def _accepted(run: Run) -> HttpResponse:
    where = f"/api/a2a/analyses/{run.analysis_id}"
    body = {"analysisId": run.analysis_id, "status": run.status, "statusUrl": where}
    return json_answer(body, status=202, headers={"Location": where})


class _Starting(LimitedPost, SharedView):
    """What has agents asked: both the start and another try of a step spend the budget of the hour."""

    def counts(self) -> Sequence[Count]:
        return standings(Budget.ANALYSES, person_pk=self.person.pk, app_pk=self.app_pk)


class Analyses(_Starting):
    takes_query = True

    def needs(self) -> Sequence[Purpose]:
        return ANALYSIS_PURPOSES if self.request.method == "POST" else ()

    def get(self, request: Request) -> HttpResponse:
        query = self.query(ListQuery)
        return json_answer(
            analysis_queries.analyses_of(self.person, cursor=query.cursor, limit=query.limit, under=self.under)
        )

    def post(self, request: Request) -> HttpResponse:
        body = self.body(AnalysisBody)
        run = analysis_actions.start_analysis(by=self.person, submitted=body.submitted(), under=self.under)
        return _accepted(run)

    def counts(self) -> Sequence[Count]:
        return [analysis_actions.unfinished_analyses(self.person), *super().counts()]


class Analysis(SharedView):
    def get(self, request: Request, analysis_id: str) -> HttpResponse:
        return json_answer(analysis_queries.status_of(self.person, analysis_id, under=self.under))

    def delete(self, request: Request, analysis_id: str) -> HttpResponse:
        self.body(Nothing)
        analysis_actions.delete_analysis(by=self.person, analysis_id=analysis_id, under=self.under)
        return HttpResponse(status=204)


class Cancel(SharedView):
    def post(self, request: Request, analysis_id: str) -> HttpResponse:
        self.body(Nothing)
        run = analysis_actions.cancel_analysis(by=self.person, analysis_id=analysis_id, under=self.under)
        return json_answer(analysis_queries.status_body(run))


class Retry(_Starting):
    def post(self, request: Request, analysis_id: str, agent: str) -> HttpResponse:
        self.body(Nothing)
        run = analysis_actions.retry_step(by=self.person, analysis_id=analysis_id, agent=agent, under=self.under)
        return _accepted(run)


class Raw(SharedView):
    """Agents' answers as they came; the standard library writes numbers of any length."""

    def get(self, request: Request, analysis_id: str) -> HttpResponse:
        written = json.dumps(analysis_queries.raw_of(self.person, analysis_id, under=self.under))
        return HttpResponse(written, content_type="application/json")
