"""The addresses of this room: what programs call and what people see."""

from django.urls import include, path

from agents_proxy.web import consenting

_consenting = (
    [
        path("", consenting.agree, name="consent"),
        path("given/", consenting.given, name="given"),
        path("<str:consent_id>/withdraw/", consenting.withdraw, name="withdraw"),
    ],
    "processing",
)

urlpatterns = [
    path("api/a2a/", include("agents_proxy.api.urls")),
    path("profile/consent/", include(_consenting)),
    path("profile/", include("agents_proxy.web.urls_linking")),
    path("profile/", include("agents_proxy.web.urls")),
]
