"""The sandbox's own addresses: whom a test app plays, and their clock."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema_view
from rest_framework.request import Request

from accounts.owner_api import OwnerView
from common.json_bodies import json_answer
from consent.decisions import expiry
from consent.sandbox import actions, queries
from consent.sandbox import descriptions as described
from consent.sandbox.players import PlayedByToken, SandboxView
from consent.sandbox.schemas import ClockBody, SandboxPersonBody


@extend_schema_view(get=described.people, post=described.make_person)
class People(SandboxView):
    """`/sandbox/people`: the app's sandbox people."""

    def get(self, request: Request) -> HttpResponse:
        return json_answer({"people": queries.people_of_app(app_pk=self.app.app_pk)})

    def post(self, request: Request) -> HttpResponse:
        label = self.body(SandboxPersonBody).label
        return json_answer(queries.shown(actions.make_person(app_pk=self.app.app_pk, label=label)), status=201)


@extend_schema_view(delete=described.delete_person)
class Person(PlayedByToken):
    """`/sandbox/people/{user_id}`: one of them."""

    def delete(self, request: Request) -> HttpResponse:
        actions.delete_person(of=self.person)
        return HttpResponse(status=204)


class Clock(OwnerView):
    """`POST …/clock`: everything of that person ends that would end within `seconds`."""

    def post(self, request: Request) -> HttpResponse:
        expiry.expire_ahead(of=self.person, seconds=self.body(ClockBody).seconds)
        return json_answer({})
