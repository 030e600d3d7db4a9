"""Every address of the service, and the reference beside them."""

from django.urls import include, path

from bench.reference import urlpatterns as reference

urlpatterns = [*reference, path("", include("consent.api.urls")), path("", include("config.urls"))]
