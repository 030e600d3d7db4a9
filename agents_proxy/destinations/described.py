"""What the OpenAPI document says of the management of destinations."""

from agents_proxy.destinations import shapes
from agents_proxy.destinations.errors import UnknownDestination
from common.admission.shapes import Nothing
from developers.manage.descriptions import APP_ID, PAGE, manages
from developers.operations import path_parameter

_ID = path_parameter("destination_id", "The destination.", "des_5w2q4k6m7n2p4r6t3v5x7z2b4d")
_URL = "https://trips.example/crm"
_DESTINATION = {
    "destination_id": "des_5w2q4k6m7n2p4r6t3v5x7z2b4d", "name": "Trips CRM", "url": _URL, "enabled": True,
    "disabled_at": None, "created_at": "2026-11-20T10:00:00Z",
}  # fmt: skip
_WITH_SECRET = {**_DESTINATION, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}

list_destinations = manages(
    name="listDestinations",
    summary="The destinations of an app",
    description="Newest first, in pages. Secrets are told once, where they are made, and never here.",
    parameters=[APP_ID, *PAGE],
    answers={200: shapes.ManagedDestinations},
    example={"items": [_DESTINATION], "next_cursor": None},
)
add_destination = manages(
    name="addDestination",
    summary="Add a destination",
    description="Where people can send the brand affinity of an analysis. The answer holds the secret that signs, this "
    "once. What people agree to names the destination, so its name and address never change. An app has at most 20.",
    parameters=[APP_ID],
    writes=True,
    body=shapes.NewDestinationBody,
    body_example={"name": "Trips CRM", "url": _URL},
    answers={201: shapes.ManagedDestinationWithSecret},
    example=_WITH_SECRET,
)
change_destination = manages(
    name="changeDestination",
    summary="Disable or enable a destination",
    description="While it is disabled nothing is sent there; what waited fails.",
    parameters=[APP_ID, _ID],
    writes=True,
    body=shapes.ChangedDestinationBody,
    body_example={"enabled": True},
    answers={200: shapes.ManagedDestination},
    example=_DESTINATION,
    refusals=[UnknownDestination],
)
remove_destination = manages(
    name="removeDestination",
    summary="Remove a destination",
    description="For good, with its secret; what waits is not sent.",
    parameters=[APP_ID, _ID],
    writes=True,
    no_content=True,
    refusals=[UnknownDestination],
)
rotate_secret = manages(
    name="rotateDestinationSecret",
    summary="Renew the secret of a destination",
    description="The new one signs every attempt from now on, in place of the old one.",
    parameters=[APP_ID, _ID],
    writes=True,
    body=Nothing,
    body_example={},
    answers={200: shapes.ManagedDestinationWithSecret},
    example=_WITH_SECRET,
    refusals=[UnknownDestination],
)
