"""A person's addresses for what the old system left of theirs: read it, keep how far it is moved, let a row go."""

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.owner_api import OwnerView
from common.json_bodies import json_answer
from pkm.legacy import actions as legacy_actions
from pkm.legacy import queries as legacy_queries
from pkm.legacy import schemas as legacy_schemas


class OldData(OwnerView):
    def get(self, request: Request) -> HttpResponse:
        return json_answer(legacy_queries.old_data(self.person))


class Progress(OwnerView):
    def put(self, request: Request) -> HttpResponse:
        body = self.body(legacy_schemas.ProgressBody)
        return json_answer(legacy_actions.save_progress(by=self.person, **body.model_dump()))


class Finish(OwnerView):
    def post(self, request: Request, domain: str) -> HttpResponse:
        body = self.body(legacy_schemas.FinishBody)
        return json_answer(legacy_actions.finish_domain(by=self.person, domain=domain, **body.model_dump()))
