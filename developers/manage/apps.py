"""The apps of the token's person, by program."""

from django.db import transaction
from django.http import HttpRequest, HttpResponse

from common.admission.schemas import PageQuery
from common.json_bodies import json_answer
from common.operations import Refusal, operation
from developers.apps import actions as app_actions
from developers.errors import InsufficientScope
from developers.manage.authentication import EVERY_APP
from developers.manage.base import ManagementView
from developers.manage.schemas import ChangedApp, ManagedApp, ManagedApps, NewApp, app_body


class Apps(ManagementView):
    """The apps that the token may look at, and a new test app."""

    takes_query = True

    def permission_for(self) -> str | None:
        return None if self.request.method == "GET" else EVERY_APP  # no token can name an app that is not there yet

    @classmethod
    def common_refusals(cls, method: str, path: str, *, takes_body: bool) -> list[Refusal]:
        found = super().common_refusals(method, path, takes_body=takes_body)
        found.remove(InsufficientScope)  # without `read` for any app the list is empty
        return found if method == "GET" else [*found, InsufficientScope]

    @classmethod
    def who_may_call(cls, method: str) -> str:
        return super().who_may_call(method).replace("the app", "any app" if method == "GET" else "every app (`*`)")

    @operation(
        name="listApps",
        summary="The apps that you manage",
        description="Those of your apps that the token has `read` for. Newest first, in pages.",
        query=PageQuery,
        answers={200: ManagedApps},
    )
    def get(self, request: HttpRequest) -> HttpResponse:
        return json_answer(self.page(self.memberships(), app_body))

    @operation(
        name="makeTestApp",
        summary="Make a test app",
        description="A test app needs nobody's approval. It reaches its own sandbox people and those members who "
        "agreed, and you own it. Nobody owns more than twenty.",
        body=NewApp,
        answers={201: ManagedApp},
    )
    def post(self, request: HttpRequest) -> HttpResponse:
        body = self.body(NewApp)
        app = app_actions.make_test_app(name=body.name, by=self.manager.user)
        return json_answer(app_body(self.memberships().get(app=app)), status=201)


class App(ManagementView):
    @operation(
        name="getApp",
        summary="One of your apps",
        description="What you are to it, and how it stands.",
        answers={200: ManagedApp},
    )
    def get(self, request: HttpRequest, app_id: str) -> HttpResponse:
        return json_answer(app_body(self.member()))

    @operation(
        name="changeApp",
        summary="Change a test app",
        description="Its name, and its origins. Those of a live app change by an application alone.",
        body=ChangedApp,
        answers={200: ManagedApp},
    )
    def patch(self, request: HttpRequest, app_id: str) -> HttpResponse:
        body = self.body(ChangedApp)
        with transaction.atomic():
            if body.name is not None:
                app_actions.rename_app(app=self.member().app, name=body.name, by=self.manager.user)
            if body.origins is not None:
                origins = list(dict.fromkeys(body.origins))
                app_actions.set_origins(app=self.member().app, origins=origins, by=self.manager.user)
        return json_answer(app_body(self.member()))
