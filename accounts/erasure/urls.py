"""Where an account is deleted, and kept."""

from django.urls import path

from accounts.erasure import pages

urlpatterns = [
    path("account/delete/", pages.delete, name="account-delete"),
    path("account/delete/keep/", pages.keep, name="account-keep"),
    path("account/delete/undo/", pages.keep_by_mail, name="account-keep-by-mail"),
]
