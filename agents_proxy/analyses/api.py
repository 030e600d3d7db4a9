"""The addresses of analyses (contract 4.3): a person's own, or those of a consent token; parse, call, answer."""

import json
from collections.abc import Sequence

from django.http import HttpResponse
from rest_framework.request import Request

from agents_proxy.agents import AGENTS, ANALYSIS_PURPOSES
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import corrections as correction_actions
from agents_proxy.analyses import queries as analysis_queries
from agents_proxy.analyses import schemas
from agents_proxy.analyses.errors import (
    AnalysisBudgetSpent,
    AnalysisEnded,
    AnswerNamesOthers,
    StepNotAsking,
    StepNotFailed,
    TooManyAnalyses,
    UnknownAnalysis,
)
from agents_proxy.analyses.models import Run
from agents_proxy.budgets import Budget, usage
from agents_proxy.errors import AddressNotVerified, ConsentEnded
from agents_proxy.owner_api import ANALYSES, LimitedPost, QuerylessOwnerView
from agents_proxy.proxy.shared_views import SharedView
from agents_proxy.states import Purpose
from common.admission.schemas import Nothing
from common.json_bodies import json_answer
from common.limits import Count
from common.operations import operation, path_parameter
from common.problems import InvalidRequest

_IN_ANALYSES = [name for name, agent in AGENTS.items() if agent.in_analysis]
_AGENT = path_parameter("agent", "Whose step.", {"type": "string", "enum": _IN_ANALYSES, "example": "brand"})


def _accepted(run: Run) -> HttpResponse:
    where = f"/api/a2a/analyses/{run.analysis_id}"
    body = {"analysisId": run.analysis_id, "status": run.status, "statusUrl": where}
    return json_answer(body, status=202, headers={"Location": where})


class _Starting(LimitedPost, SharedView):
    """What has agents asked: the start, another try of a step and an answer to it spend the budget of the hour."""

    def counts(self) -> Sequence[Count]:
        return usage(Budget.ANALYSES, person_pk=self.person.pk, app_pk=self.app_pk)


class Analyses(_Starting):
    takes_query = True

    def needs(self) -> Sequence[Purpose]:
        return ANALYSIS_PURPOSES if self.request.method == "POST" else ()

    @operation(
        name="listAnalyses",
        summary="One's analyses",
        description="Newest first, in pages; give `nextCursor` as `cursor` for the following one.",
        query=schemas.ListQuery,
        answers={200: schemas.AnalysisPage},
    )
    def get(self, request: Request) -> HttpResponse:
        query = self.query(schemas.ListQuery)
        return json_answer(
            analysis_queries.analyses_of(self.person, cursor=query.cursor, limit=query.limit, under=self.under)
        )

    @operation(
        name="startAnalysis",
        summary="Have one's profile put together",
        description="`agreed` is the consent to profile, enrichment and brand_affinity for this run alone.",
        body=schemas.AnalysisBody,
        answers={202: schemas.AnalysisAccepted},
        refusals=[AddressNotVerified, TooManyAnalyses, AnalysisBudgetSpent],
    )
    def post(self, request: Request) -> HttpResponse:
        body = self.body(schemas.AnalysisBody)
        if body.ownValues is not None and self.under is not None:
            raise InvalidRequest("ownValues are the person's own word: no token speaks for them.")
        run = analysis_actions.start_analysis(
            by=self.person, submitted=body.submitted(), under=self.under, own=body.ownValues
        )
        return _accepted(run)

    def counts(self) -> Sequence[Count]:
        return [analysis_actions.unfinished_analyses(self.person), *super().counts()]


class Analysis(SharedView):
    @operation(
        name="getAnalysis",
        summary="How an analysis stands",
        description="Its steps, and once it ended the merged profile.",
        parameters=[schemas.ANALYSIS_ID],
        answers={200: schemas.AnalysisStatus},
        refusals=[UnknownAnalysis],
    )
    def get(self, request: Request, analysis_id: str) -> HttpResponse:
        return json_answer(analysis_queries.status_of(self.person, analysis_id, under=self.under))

    @operation(
        name="deleteAnalysis",
        summary="Delete an analysis",
        description="What went in and what came out is gone at once.",
        parameters=[schemas.ANALYSIS_ID],
        answers={204: None},
        refusals=[UnknownAnalysis],
    )
    def delete(self, request: Request, analysis_id: str) -> HttpResponse:
        self.body(Nothing)
        analysis_actions.delete_analysis(by=self.person, analysis_id=analysis_id, under=self.under)
        return HttpResponse(status=204)


class Cancel(SharedView):
    @operation(
        name="cancelAnalysis",
        summary="Stop an analysis",
        description="What was found so far stays.",
        parameters=[schemas.ANALYSIS_ID],
        answers={200: schemas.AnalysisStatus},
        refusals=[UnknownAnalysis, AnalysisEnded],
    )
    def post(self, request: Request, analysis_id: str) -> HttpResponse:
        self.body(Nothing)
        run = analysis_actions.cancel_analysis(by=self.person, analysis_id=analysis_id, under=self.under)
        return json_answer(analysis_queries.status_body(run))


class Retry(_Starting):
    @operation(
        name="retryAnalysisStep",
        summary="Try a failed step again",
        description="Once the analysis has ended.",
        parameters=[schemas.ANALYSIS_ID, _AGENT],
        answers={202: schemas.AnalysisAccepted},
        refusals=[UnknownAnalysis, StepNotFailed, ConsentEnded, AnalysisBudgetSpent],
    )
    def post(self, request: Request, analysis_id: str, agent: str) -> HttpResponse:
        self.body(Nothing)
        run = analysis_actions.retry_step(by=self.person, analysis_id=analysis_id, agent=agent, under=self.under)
        return _accepted(run)


class Answer(_Starting):
    @operation(
        name="answerAnalysisStep",
        summary="Answer an agent's question",
        description="While the step is `input_required`. The agent goes on in the same conversation.",
        parameters=[schemas.ANALYSIS_ID, _AGENT],
        body=schemas.AnswerBody,
        answers={202: schemas.AnalysisAccepted},
        refusals=[UnknownAnalysis, StepNotAsking, AnswerNamesOthers, ConsentEnded, AnalysisBudgetSpent],
    )
    def post(self, request: Request, analysis_id: str, agent: str) -> HttpResponse:
        text = self.body(schemas.AnswerBody).text
        run = analysis_actions.answer_step(
            by=self.person, analysis_id=analysis_id, agent=agent, text=text, under=self.under
        )
        return _accepted(run)


class Corrections(QuerylessOwnerView):
    """The person's own word: no token speaks for them."""

    @operation(
        name="correctAnalysis",
        tag=ANALYSES,
        summary="Correct what agents say of oneself",
        description="A value stands in place of every agent's, here and in later analyses; null refuses what they say. "
        "The update agent is told of it under a consent to `profile`, and destinations that got the old value get the "
        "new one where their consent lasts. A session alone, no consent token.",
        parameters=[schemas.ANALYSIS_ID],
        body=schemas.CorrectionsBody,
        answers={200: schemas.AnalysisStatus},
        refusals=[UnknownAnalysis, AddressNotVerified],
    )
    def put(self, request: Request, analysis_id: str) -> HttpResponse:
        changes = self.body(schemas.CorrectionsBody).root
        run, _ = correction_actions.correct(by=self.person, analysis_id=analysis_id, changes=changes)
        return json_answer(analysis_queries.status_body(run))


class Raw(SharedView):
    """Agents' answers as they came; the standard library writes numbers of any length."""

    @operation(
        name="getRawAnalysis",
        summary="What each agent answered, in full",
        description="Input, merged profile and every agent's result.",
        parameters=[schemas.ANALYSIS_ID],
        answers={200: schemas.AnalysisRaw},
        refusals=[UnknownAnalysis],
    )
    def get(self, request: Request, analysis_id: str) -> HttpResponse:
        written = json.dumps(analysis_queries.raw_of(self.person, analysis_id, under=self.under))
        return HttpResponse(written, content_type="application/json")
