"""The addresses of sendings."""

from django.urls import URLPattern, path, re_path

from agents_proxy.activations import pages as views
from agents_proxy.activations.api import Activation, Activations, Destinations

api: list[URLPattern] = [
    path("analyses/<str:analysis_id>/activations", Activations.as_view()),
    path("analyses/<str:analysis_id>/activations/<str:activation_id>", Activation.as_view()),
    path("destinations", Destinations.as_view()),
]

pages = (
    [re_path(r"^(?P<analysis_id>ana_[a-z2-7]{10,60})/send/$", views.send, name="send")],
    "activations",
)
