"""The developer portal's own pages."""

from django.urls import path, re_path

from developers.apps.pages import logo
from developers.portal import audit, domain, invitation, management_tokens, pages, request_log, settings, team, tokens

app_name = "developers"

urlpatterns = [
    path("developers/", pages.home, name="home"),
    path("developers/apps/", pages.make_test_app, name="make-test-app"),
    path("developers/apps/<str:app_id>/", pages.app, name="app"),
    path("developers/apps/<str:app_id>/tokens/", tokens.tokens, name="tokens"),
    path("developers/apps/<str:app_id>/tokens/<str:prefix>/rotate/", tokens.rotate, name="token-rotate"),
    path("developers/apps/<str:app_id>/tokens/<str:prefix>/revoke/", tokens.revoke, name="token-revoke"),
    path("developers/apps/<str:app_id>/settings/", settings.settings, name="settings"),
    path("developers/apps/<str:app_id>/settings/close/", settings.close, name="close"),
    path("developers/apps/<str:app_id>/audit/", audit.audit, name="audit"),
    path("developers/management-tokens/", management_tokens.management_tokens, name="management-tokens"),
    path(
        "developers/management-tokens/<str:prefix>/revoke/",
        management_tokens.revoke_management_token,
        name="management-token-revoke",
    ),
    path("developers/apps/<str:app_id>/domain/", domain.domain, name="domain"),
    re_path(r"^logos/(?P<digest>[0-9a-f]{64})\.png$", logo, name="logo"),
    path("developers/apps/<str:app_id>/log/", request_log.log, name="log"),
    path("developers/apps/<str:app_id>/log/latest", request_log.log_latest, name="log-latest"),
    path("developers/apps/<str:app_id>/members/", team.members, name="members"),
    path("developers/apps/<str:app_id>/members/invite/", team.invite, name="invite"),
    path("developers/apps/<str:app_id>/members/leave/", team.leave, name="leave-team"),
    path("developers/apps/<str:app_id>/members/tests/", team.agree_to_tests, name="agree-to-tests"),
    path("developers/apps/<str:app_id>/members/<str:member_id>/role/", team.change_role, name="change-role"),
    path("developers/apps/<str:app_id>/members/<str:member_id>/transfer/", team.transfer, name="transfer-app"),
    path("developers/apps/<str:app_id>/members/<str:member_id>/remove/", team.remove, name="remove-member"),
    path("developers/apps/<str:app_id>/invitations/<int:invitation_pk>/send/", team.resend, name="resend-invitation"),
    path(
        "developers/apps/<str:app_id>/invitations/<int:invitation_pk>/withdraw/",
        team.withdraw,
        name="withdraw-invitation",
    ),
    path("developers/invitations/<str:secret>/", invitation.accept, name="invitation"),
]
