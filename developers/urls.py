"""The developer portal's own pages."""

from django.urls import path

from developers.portal import pages

app_name = "developers"

urlpatterns = [
    path("developers/", pages.home, name="home"),
    path("developers/apps/", pages.make_test_app, name="make-test-app"),
    path("developers/apps/<str:app_id>/", pages.app, name="app"),
]
