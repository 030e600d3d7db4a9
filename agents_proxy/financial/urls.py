"""The addresses of linked institutions."""

from django.urls import URLPattern, path

from agents_proxy.financial import pages as views
from agents_proxy.financial.api import Identity, Items, Links, OneItem, Refreshes, Signals

api: list[URLPattern] = [
    path("financial/links", Links.as_view()),
    path("financial/items", Items.as_view(), name="financial-items"),
    path("financial/items/<str:item_id>", OneItem.as_view()),
    path("financial/items/<str:item_id>/refreshes", Refreshes.as_view()),
    path("financial/items/<str:item_id>/identity", Identity.as_view()),
    path("financial/signals", Signals.as_view()),
]

pages = (
    [
        path("", views.institutions, name="institutions"),
        path("link/", views.link, name="link"),
        path("linked/", views.linked, name="linked"),
        path("links/<str:link_id>/", views.go_on, name="go_on"),
        path("<str:item_id>/refresh/", views.refresh, name="refresh"),
        path("<str:item_id>/identity/", views.identity, name="identity"),
        path("<str:item_id>/remove/", views.remove, name="remove"),
    ],
    "financial",
)
