"""The addresses of `/api/a2a/`; an agent's own name is tried last."""

from django.urls import include, path

from agents_proxy.api import consents, proxy

urlpatterns = [
    path("consents", consents.Consents.as_view(), name="a2a-consents"),
    path("consents/<str:consent_id>", consents.OneConsent.as_view()),
    path("", include("agents_proxy.api.urls_analyses")),
    path("", include("agents_proxy.api.urls_messaging")),
    # whatever else is asked for below here is an agent that does not exist
    path("<path:agent>", proxy.AgentView.as_view(), name="a2a-agent"),
]
