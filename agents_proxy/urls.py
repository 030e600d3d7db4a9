"""The addresses of this room: what programs call and what people see."""

from django.urls import include, path

from agents_proxy import documented
from agents_proxy.activations import urls as activations
from agents_proxy.analyses import urls as analyses
from agents_proxy.deletions import urls as deletions
from agents_proxy.destinations import urls as destinations
from agents_proxy.financial import urls as financial
from agents_proxy.messaging import urls as messaging
from agents_proxy.processing_consent import urls as processing_consent
from agents_proxy.proxy.api import AgentView, AssertionKeys
from agents_proxy.proxy.shared_views import CallersSubject

documented.describe()

api = [
    path("subject", CallersSubject.as_view(), name="a2a-subject"),
    *processing_consent.api,
    *analyses.api,
    *activations.api,
    *messaging.api,
    *financial.api,
    # whatever else is asked for below here is an agent that does not exist
    path("<path:agent>", AgentView.as_view(), name="a2a-agent"),
]

program = [path(".well-known/consent-assertion-keys.json", AssertionKeys.as_view(), name="consent-assertion-keys")]
urlpatterns = [
    *program,
    path("api/a2a/", include(api)),
    path("", include(destinations.management)),
    path("", include(destinations.pages)),
    path("", include(deletions.pages)),
    path("profile/consent/", include(processing_consent.pages)),
    path("profile/messages/", include(messaging.message_urls)),
    path("profile/numbers/", include(messaging.pages)),
    path("profile/financial/", include(financial.pages)),
    path("profile/analyses/", include(activations.pages)),
    path("profile/", include(analyses.pages)),
]
