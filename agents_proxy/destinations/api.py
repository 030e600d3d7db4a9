"""An app's destinations by program, with a personal management token (contract 5.1)."""

from django.http import HttpRequest, HttpResponse

from agents_proxy.destinations import actions as destination_actions
from agents_proxy.destinations import described
from agents_proxy.destinations import queries as destination_queries
from agents_proxy.destinations.models import Destination as DestinationRow
from agents_proxy.destinations.shapes import ChangedDestinationBody, NewDestinationBody, managed_body
from common.admission.shapes import Nothing, PageQuery
from common.json_bodies import json_answer
from developers.manage.base import ManagementView


class Destinations(ManagementView):
    """All destinations of an app."""

    http_method_names = ["get", "post"]
    takes_query = True

    @described.list_destinations
    def get(self, request: HttpRequest, app_id: str) -> HttpResponse:
        self.query(PageQuery)  # before what the path names is looked up
        return json_answer(self.page(destination_queries.destinations_of(self.member().app), managed_body))

    @described.add_destination
    def post(self, request: HttpRequest, app_id: str) -> HttpResponse:
        asked = self.body(NewDestinationBody)
        destination, secret = destination_actions.add_destination(
            app=self.member().app, name=asked.name, url=asked.url, by=self.manager.user
        )
        return json_answer({**managed_body(destination), "secret": secret}, status=201)


class DestinationView(ManagementView):
    """What the addresses of one destination share."""

    def destination(self) -> DestinationRow:
        """The destination in the path; raises `NotFound`, `UnknownDestination`."""
        return destination_queries.destination_of(self.member().app, self.kwargs["destination_id"])


class Destination(DestinationView):
    """One destination."""

    http_method_names = ["patch", "delete"]
    body_required = False

    @described.change_destination
    def patch(self, request: HttpRequest, app_id: str, destination_id: str) -> HttpResponse:
        asked = self.body(ChangedDestinationBody)
        act = destination_actions.enable_destination if asked.enabled else destination_actions.disable_destination
        act(destination=self.destination(), by=self.manager.user)
        return json_answer(managed_body(self.destination()))

    @described.remove_destination
    def delete(self, request: HttpRequest, app_id: str, destination_id: str) -> HttpResponse:
        self.body(Nothing)
        destination_actions.remove_destination(destination=self.destination(), by=self.manager.user)
        return HttpResponse(status=204)


class DestinationSecret(DestinationView):
    """Renew what signs."""

    http_method_names = ["post"]
    body_required = False

    @described.rotate_secret
    def post(self, request: HttpRequest, app_id: str, destination_id: str) -> HttpResponse:
        self.body(Nothing)
        destination = self.destination()
        secret = destination_actions.renew_secret(destination=destination, by=self.manager.user)
        return json_answer({**managed_body(destination), "secret": secret})
