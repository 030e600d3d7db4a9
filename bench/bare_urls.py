"""The one address of the bare reference."""

from django.urls import path

from bench.reference import reference

urlpatterns = [path("api/v1/reference/<str:user_id>", reference)]
