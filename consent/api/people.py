"""`GET /people`: the directory of those who let apps find them (contract 1.6)."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from common.json_bodies import json_answer
from common.operations import operation
from common.problems import TooManyRequests
from consent.api.base import DISCOVER, DeveloperView
from consent.discovery import directory
from consent.schemas import PeopleQuery
from consent.shapes import FoundPeople


class Searches(BaseThrottle):
    """How many searches an app may make in an hour; a call that does not fit counts too."""

    def allow_request(self, request: Request, view: Any) -> bool:
        view.note(directory.admit_search(app_pk=view.app.app_pk))
        return True


class People(DeveloperView):
    """Whom an app finds by handle or name."""

    throttle_classes = (Searches,)
    needs = frozenset({"discover"})
    takes_query = True

    def note_limits(self) -> None:
        if not self.limits:
            self.note(directory.peek(self.app.app_pk))

    @operation(
        name="findPeople",
        tag=DISCOVER,
        summary="People who let apps find them",
        description="Those who switched their public profile on and allowed apps to find them, whose handle or name "
        "begins with `query`, whatever the case; all of them without one. Give `next_cursor` as `cursor` for the "
        "following page. Being listed agrees to nothing: ask as you would ask anybody. A test app finds its own "
        "sandbox people and members. Searches are limited by the hour.",
        query=PeopleQuery,
        answers={200: FoundPeople},
        refusals=[TooManyRequests],
    )
    def get(self, request: HttpRequest) -> HttpResponse:
        query = self.query(PeopleQuery)
        page = directory.people_found(app=self.app, beginning=query.query, cursor=query.cursor, limit=query.limit)
        return json_answer(page)
