"""The developer portal's pages that show what this room knows, or the scope registry."""

from django.urls import path

from consent.portal import application_pages

app_name = "portal"

urlpatterns = [
    path("developers/applications/new/", application_pages.apply, name="apply"),
    path("developers/applications/<int:pk>/", application_pages.application, name="application"),
    path("developers/applications/<int:pk>/withdraw/", application_pages.withdraw, name="withdraw-application"),
    path("developers/applications/<int:pk>/domain/", application_pages.check_domain, name="application-domain"),
]
