"""Every address of the service, and the reference beside them."""

from django.urls import include, path

from bench.reference import reference

urlpatterns = [
    path("api/v1/reference/<str:user_id>", reference),
    path("", include("consent.api.urls")),
    path("", include("config.urls")),
]
