"""What the button of the page of sendings asks for, in words."""

from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Values, Words, to_page
from agents_proxy.analyses.errors import UnknownAnalysis
from agents_proxy.analyses.queries import own_run
from agents_proxy.destinations import queries as destination_queries
from agents_proxy.destinations.errors import UnknownDestination


def _send(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    person = person_of(request)
    try:
        own_run(person, kwargs["analysis_id"])
        [destination] = destination_queries.named([str(values.get("destination", ""))], person=person)
    except (UnknownAnalysis, UnknownDestination):
        return None
    asked = gettext("You asked to send your brand affinity to %(destination)s.")
    return Words(asked % {"destination": destination.described}, gettext("Send it"))


SEND = PageAction(
    page=to_page("activations:send", "analysis_id"),
    words=_send,
    fields=(
        Field("destination"),
        Field("sending"),
        Field("shown"),
        Field("agreed", _("I agree that it is sent"), "check"),
    ),
    shows_itself=True,
)
