"""The apps of the token's person, by program."""

from django.http import HttpRequest, HttpResponse

from common.json_bodies import json_answer
from developers.apps import actions as app_actions
from developers.manage import descriptions as described
from developers.manage.authentication import EVERY_APP
from developers.manage.base import ManagementView
from developers.manage.bodies import app_body
from developers.manage.schemas import ChangedApp, NewApp


class Apps(ManagementView):
    """The apps that the token may look at, and a new test app."""

    http_method_names = ["get", "post"]
    takes_query = True

    def permission_for(self) -> str | None:
        return None if self.request.method == "GET" else EVERY_APP  # no token can name an app that is not there yet

    @described.list_apps
    def get(self, request: HttpRequest) -> HttpResponse:
        return json_answer(self.page(self.memberships(), app_body))

    @described.make_test_app
    def post(self, request: HttpRequest) -> HttpResponse:
        asked = self.body(NewApp)
        app = app_actions.make_test_app(name=asked.name, by=self.manager.user)
        return json_answer(app_body(self.memberships().get(app=app)), status=201)


class App(ManagementView):
    """One app."""

    http_method_names = ["get", "patch"]

    @described.get_app
    def get(self, request: HttpRequest, app_id: str) -> HttpResponse:
        return json_answer(app_body(self.member()))

    @described.change_app
    def patch(self, request: HttpRequest, app_id: str) -> HttpResponse:
        asked = self.body(ChangedApp)
        app_actions.rename_app(app=self.member().app, name=asked.name, by=self.manager.user)
        return json_answer(app_body(self.member()))
