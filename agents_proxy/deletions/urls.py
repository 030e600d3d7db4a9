"""The address of an agreement's receivers."""

from django.urls import path

from agents_proxy.deletions import pages as views

pages = ([path("profile/consent/<str:consent_id>/receivers/", views.receivers, name="receivers")], "deletions")
