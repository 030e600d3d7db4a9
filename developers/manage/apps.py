"""The apps of the token's person, by program."""

from django.http import HttpRequest, HttpResponse

from common.json_bodies import json_answer
from developers.manage import descriptions as described
from developers.manage.base import ManagementView
from developers.manage.bodies import app_body


class Apps(ManagementView):
    """The apps that the token may look at."""

    takes_query = True

    @described.list_apps
    def get(self, request: HttpRequest) -> HttpResponse:
        return json_answer(self.page(self.memberships(), app_body))
