"""The addresses of destinations: those of an app's members, by page and by program."""

from django.urls import URLPattern, path

from agents_proxy.destinations import api
from agents_proxy.destinations import pages as views

_PAGES = "developers/apps/<str:app_id>/destinations/"
_MANAGED = "api/v1/manage/apps/<str:app_id>/destinations"
_ONE = f"{_MANAGED}/<str:destination_id>"

management: list[URLPattern] = [
    path(_MANAGED, api.Destinations.as_view(), name="manage-destinations"),
    path(_ONE, api.Destination.as_view(), name="manage-destination"),
    path(f"{_ONE}/rotate-secret", api.DestinationSecret.as_view(), name="manage-destination-secret"),
]

pages = (
    [
        path(_PAGES, views.destinations, name="destinations"),
        path(f"{_PAGES}<str:destination_id>/switch/", views.switch, name="switch"),
        path(f"{_PAGES}<str:destination_id>/secret/", views.renew, name="renew"),
        path(f"{_PAGES}<str:destination_id>/remove/", views.remove, name="remove"),
    ],
    "destinations",
)
