"""Where the public profile is."""

from django.urls import path

from accounts.public_profile import pages

urlpatterns = [
    path("account/public-profile/", pages.edit, name="public-profile"),
    path("account/public-profile/preview/", pages.preview, name="public-profile-preview"),
    path("account/public-profile/switch/", pages.switch, name="public-profile-switch"),
    path("account/public-profile/directory/", pages.directory, name="public-profile-directory"),
    path("account/public-profile/remove/", pages.remove, name="public-profile-remove"),
    path("people/<str:handle>/", pages.person, name="person-page"),
]
