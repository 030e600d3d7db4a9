"""The addresses of this room: what programs call and what people see."""

from django.urls import URLPattern, include, path, re_path

from agents_proxy.activations import api as activations
from agents_proxy.activations.pages import send
from agents_proxy.analyses import urls as analyses
from agents_proxy.deletions.pages import receivers
from agents_proxy.destinations import api as destinations
from agents_proxy.financial import urls as financial
from agents_proxy.messaging import urls as messaging
from agents_proxy.processing_consent import urls as processing_consent
from agents_proxy.proxy.api import AgentView, AssertionKeys
from agents_proxy.proxy.shared_views import CallersSubject

_DESTINATIONS = "api/v1/manage/apps/<str:app_id>/destinations"

# what is called with a token; the pages of destinations are the portal's
program: list[URLPattern] = [
    path(_DESTINATIONS, destinations.Destinations.as_view(), name="manage-destinations"),
    path(f"{_DESTINATIONS}/<str:destination_id>", destinations.Destination.as_view(), name="manage-destination"),
    path(
        f"{_DESTINATIONS}/<str:destination_id>/rotate-secret",
        destinations.DestinationSecret.as_view(),
        name="manage-destination-secret",
    ),
    path(".well-known/consent-assertion-keys.json", AssertionKeys.as_view(), name="consent-assertion-keys"),
]
api = [
    path("subject", CallersSubject.as_view(), name="a2a-subject"),
    *processing_consent.api,
    *analyses.api,
    path("analyses/<str:analysis_id>/activations", activations.Activations.as_view()),
    path("analyses/<str:analysis_id>/activations/<str:activation_id>", activations.Activation.as_view()),
    path("destinations", activations.Destinations.as_view()),
    *messaging.api,
    *financial.api,
    # whatever else is asked for below here is an agent that does not exist
    path("<path:agent>", AgentView.as_view(), name="a2a-agent"),
]

activation_pages = ([re_path(r"^(?P<analysis_id>ana_[a-z2-7]{10,60})/send/$", send, name="send")], "activations")
deletion_pages = ([path("profile/consent/<str:consent_id>/receivers/", receivers, name="receivers")], "deletions")
urlpatterns = [
    *program,
    path("api/a2a/", include(api)),
    path("", include(deletion_pages)),
    path("profile/consent/", include(processing_consent.pages)),
    path("profile/messages/", include(messaging.message_urls)),
    path("profile/numbers/", include(messaging.pages)),
    path("profile/financial/", include(financial.pages)),
    path("profile/analyses/", include(activation_pages)),
    path("profile/", include(analyses.pages)),
]
