"""The management addresses whose records are of this room. No address ends in a slash, and none redirects."""

from django.urls import path

from developers.manage import apps, log, members, tokens

_APP = "api/v1/manage/apps/<str:app_id>"
_TOKEN = "api/v1/manage/tokens/<str:prefix>"  # noqa: S105  # an address

urlpatterns = [
    path("api/v1/manage/apps", apps.Apps.as_view(), name="manage-apps"),
    path(_APP, apps.App.as_view(), name="manage-app"),
    path(f"{_APP}/log", log.Log.as_view(), name="manage-log"),
    path(f"{_APP}/tokens", tokens.Tokens.as_view(), name="manage-tokens"),
    path(f"{_TOKEN}/rotate", tokens.RotateToken.as_view(), name="manage-rotate-token"),
    path(f"{_TOKEN}/revoke", tokens.RevokeToken.as_view(), name="manage-revoke-token"),
    path(f"{_APP}/members", members.Members.as_view(), name="manage-members"),
    path(f"{_APP}/members/<str:member_id>", members.Member.as_view(), name="manage-member"),
]
