"""The developers' area: every page of it. Tabs are shown in the order of their addresses here."""

from django.urls import path, re_path

from portal import (
    applications,
    audit,
    console,
    destinations,
    domain,
    home,
    keys,
    limits,
    overview,
    request_log,
    sandbox,
    settings,
    team,
    tokens,
    webhooks,
)

app_name = "portal"
_APPLICATION = "developers/applications"
_APP = "developers/apps/<str:app_id>"
_TOKEN = f"{_APP}/tokens/<str:prefix>"
_MANAGEMENT = "developers/management-tokens"
_SANDBOX = f"{_APP}/sandbox"
_ENDPOINT = f"{_APP}/webhooks/<int:endpoint_pk>"
_DESTINATION = f"{_APP}/destinations/<str:destination_id>"
_MEMBERS = f"{_APP}/members"
_MEMBER = f"{_MEMBERS}/<str:member_id>"
_INVITATION = f"{_APP}/invitations/<int:invitation_pk>"

urlpatterns = [
    path("developers/", home.home, name="home"),
    path("developers/apps/", home.make_test_app, name="make-test-app"),
    path("developers/invitations/<str:secret>/", team.accept, name="invitation"),
    path(f"{_MANAGEMENT}/", tokens.management_tokens, name="management-tokens"),
    path(f"{_MANAGEMENT}/<str:prefix>/revoke/", tokens.revoke_management_token, name="management-token-revoke"),
    path(f"{_APPLICATION}/new/", applications.apply, name="apply"),
    path(f"{_APPLICATION}/<int:pk>/", applications.application, name="application"),
    path(f"{_APPLICATION}/<int:pk>/withdraw/", applications.withdraw, name="withdraw-application"),
    path(f"{_APPLICATION}/<int:pk>/domain/", applications.check_domain, name="application-domain"),
    re_path(r"^logos/(?P<digest>[0-9a-f]{64})\.png$", applications.logo, name="logo"),
    path(f"{_APP}/", overview.app, name="app"),
    path(f"{_APP}/tokens/", tokens.tokens, name="tokens"),
    path(f"{_TOKEN}/rotate/", tokens.rotate, name="token-rotate"),
    path(f"{_TOKEN}/revoke/", tokens.revoke, name="token-revoke"),
    path(f"{_SANDBOX}/", sandbox.people, name="sandbox"),
    path(f"{_SANDBOX}/new/", sandbox.make_person, name="make-sandbox-person"),
    path(f"{_SANDBOX}/<str:user_id>/", sandbox.person, name="sandbox-person"),
    path(f"{_SANDBOX}/<str:user_id>/clock/", sandbox.move_clock, name="sandbox-clock"),
    path(f"{_SANDBOX}/<str:user_id>/delete/", sandbox.delete_person, name="delete-sandbox-person"),
    path(f"{_APP}/try/", console.console, name="try"),
    path(f"{_APP}/webhooks/", webhooks.endpoints, name="webhooks"),
    path(f"{_ENDPOINT}/", webhooks.endpoint, name="webhook"),
    path(f"{_ENDPOINT}/log", webhooks.fresh_log, name="webhook-log"),
    path(f"{_ENDPOINT}/change/", webhooks.change, name="webhook-change"),
    path(f"{_ENDPOINT}/switch/", webhooks.switch, name="webhook-switch"),
    path(f"{_ENDPOINT}/secret/", webhooks.renew, name="webhook-renew"),
    path(f"{_ENDPOINT}/test/", webhooks.test, name="webhook-test"),
    path(f"{_ENDPOINT}/delete/", webhooks.delete, name="webhook-delete"),
    path(f"{_ENDPOINT}/replay/", webhooks.replay_failed, name="webhook-replay-failed"),
    path(f"{_ENDPOINT}/deliveries/<int:delivery_pk>/replay/", webhooks.replay, name="webhook-replay"),
    path(f"{_APP}/destinations/", destinations.destinations, name="destinations"),
    path(f"{_DESTINATION}/switch/", destinations.switch, name="destination-switch"),
    path(f"{_DESTINATION}/secret/", destinations.renew, name="destination-renew"),
    path(f"{_DESTINATION}/remove/", destinations.remove, name="destination-remove"),
    path(f"{_APP}/log/", request_log.log, name="log"),
    path(f"{_APP}/log/latest", request_log.log_latest, name="log-latest"),
    path(f"{_APP}/keys/", keys.keys, name="keys"),
    path(f"{_APP}/keys/<str:thumbprint>/remove/", keys.remove, name="key-remove"),
    path(f"{_APP}/limits/", limits.limits, name="limits"),
    path(f"{_MEMBERS}/", team.members, name="members"),
    path(f"{_MEMBERS}/invite/", team.invite, name="invite"),
    path(f"{_MEMBERS}/leave/", team.leave, name="leave-team"),
    path(f"{_MEMBERS}/tests/", team.agree_to_tests, name="agree-to-tests"),
    path(f"{_MEMBER}/role/", team.change_role, name="change-role"),
    path(f"{_MEMBER}/transfer/", team.transfer, name="transfer-app"),
    path(f"{_MEMBER}/remove/", team.remove, name="remove-member"),
    path(f"{_INVITATION}/send/", team.resend, name="resend-invitation"),
    path(f"{_INVITATION}/withdraw/", team.withdraw, name="withdraw-invitation"),
    path(f"{_APP}/domain/", domain.domain, name="domain"),
    path(f"{_APP}/settings/", settings.settings, name="settings"),
    path(f"{_APP}/settings/close/", settings.close, name="close"),
    path(f"{_APP}/audit/", audit.audit, name="audit"),
]
