"""The management addresses whose records are of this room. No address ends in a slash, and none redirects."""

from django.urls import path

from developers.manage import apps, log

urlpatterns = [
    path("api/v1/manage/apps", apps.Apps.as_view(), name="manage-apps"),
    path("api/v1/manage/apps/<str:app_id>/log", log.Log.as_view(), name="manage-log"),
]
