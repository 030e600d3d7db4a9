"""The addresses of linked institutions."""

from django.urls import URLPattern, path

from agents_proxy.financial import pages as views
from agents_proxy.financial.api import Identity, ItemLinks, Items, Links, OneItem, Refreshes, Signals, Webhooks

api: list[URLPattern] = [
    path("financial/links", Links.as_view()),
    path("financial/items", Items.as_view(), name="financial-items"),
    path("financial/items/<str:item_id>", OneItem.as_view()),
    path("financial/items/<str:item_id>/links", ItemLinks.as_view()),
    path("financial/items/<str:item_id>/refreshes", Refreshes.as_view()),
    path("financial/items/<str:item_id>/identity", Identity.as_view()),
    path("financial/signals", Signals.as_view()),
    path("financial/webhooks", Webhooks.as_view()),
]

pages = (
    [
        path("", views.institutions, name="institutions"),
        path("link/", views.link, name="link"),
        path("linked/", views.linked, name="linked"),
        path("links/<str:link_id>/", views.go_on, name="go_on"),
        path("<str:item_id>/link/", views.link_again, name="link_again"),
        path("<str:item_id>/refresh/", views.refresh, name="refresh"),
        path("<str:item_id>/identity/", views.identity, name="identity"),
        path("<str:item_id>/remove/", views.remove, name="remove"),
    ],
    "financial",
)
