"""An app's destinations by program, with a personal management token (contract 5.1)."""

from django.http import HttpRequest, HttpResponse

from agents_proxy.destinations import actions as destination_actions
from agents_proxy.destinations import queries as destination_queries
from agents_proxy.destinations import schemas
from agents_proxy.destinations.errors import UnknownDestination
from agents_proxy.destinations.models import Destination as DestinationRow
from common.admission.schemas import Nothing, PageQuery
from common.json_bodies import json_answer
from common.operations import operation, path_parameter
from developers.manage.base import APP_ID, ManagementView

_ID = path_parameter("destination_id", "The destination.", schemas.EXAMPLE_ID)


class Destinations(ManagementView):
    takes_query = True

    @operation(
        name="listDestinations",
        summary="The destinations of an app",
        description="Newest first, in pages. Secrets are told once, where they are made, and never here.",
        query=PageQuery,
        answers={200: schemas.ManagedDestinations},
    )
    def get(self, request: HttpRequest, app_id: str) -> HttpResponse:
        self.query(PageQuery)  # before what the path names is looked up
        return json_answer(self.page(destination_queries.destinations_of(self.member().app), schemas.managed_body))

    @operation(
        name="addDestination",
        summary="Add a destination",
        description="Where people can send the brand affinity of an analysis. The answer holds the secret that signs, "
        "this once. What people agree to names the destination, so its name and address never change. An app has at "
        "most 20.",
        body=schemas.NewDestinationBody,
        answers={201: schemas.ManagedDestinationWithSecret},
    )
    def post(self, request: HttpRequest, app_id: str) -> HttpResponse:
        body = self.body(schemas.NewDestinationBody)
        destination, secret = destination_actions.add_destination(
            app=self.member().app, name=body.name, url=body.url, by=self.manager.user
        )
        return json_answer({**schemas.managed_body(destination), "secret": secret}, status=201)


class DestinationView(ManagementView):
    """What the addresses of one destination share."""

    path_parameters = [APP_ID, _ID]

    def destination(self) -> DestinationRow:
        """The destination in the path; raises `NotFound`, `UnknownDestination`."""
        return destination_queries.destination_of(self.member().app, self.kwargs["destination_id"])


class Destination(DestinationView):
    body_required = False

    @operation(
        name="changeDestination",
        summary="Disable or enable a destination",
        description="While it is disabled nothing is sent there; what waited fails.",
        body=schemas.ChangedDestinationBody,
        answers={200: schemas.ManagedDestination},
        refusals=[UnknownDestination],
    )
    def patch(self, request: HttpRequest, app_id: str, destination_id: str) -> HttpResponse:
        body = self.body(schemas.ChangedDestinationBody)
        act = destination_actions.enable_destination if body.enabled else destination_actions.disable_destination
        act(destination=self.destination(), by=self.manager.user)
        return json_answer(schemas.managed_body(self.destination()))

    @operation(
        name="removeDestination",
        summary="Remove a destination",
        description="For good, with its secret; what waits is not sent.",
        answers={204: None},
        refusals=[UnknownDestination],
    )
    def delete(self, request: HttpRequest, app_id: str, destination_id: str) -> HttpResponse:
        self.body(Nothing)
        destination_actions.remove_destination(destination=self.destination(), by=self.manager.user)
        return HttpResponse(status=204)


class DestinationSecret(DestinationView):
    """Renew what signs."""

    body_required = False

    @operation(
        name="rotateDestinationSecret",
        summary="Renew the secret of a destination",
        description="The new one signs every attempt from now on, in place of the old one.",
        body=Nothing,
        answers={200: schemas.ManagedDestinationWithSecret},
        refusals=[UnknownDestination],
    )
    def post(self, request: HttpRequest, app_id: str, destination_id: str) -> HttpResponse:
        self.body(Nothing)
        destination = self.destination()
        secret = destination_actions.renew_secret(destination=destination, by=self.manager.user)
        return json_answer({**schemas.managed_body(destination), "secret": secret})
