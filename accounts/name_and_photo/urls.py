"""Where a person's own name and photo are."""

from django.urls import path

from accounts.name_and_photo import pages

urlpatterns = [
    path("account/name/", pages.edit, name="name-and-photo"),
    path("account/name/photo/", pages.photo, name="own-photo"),
    path("account/name/photo/remove/", pages.remove, name="own-photo-remove"),
]
