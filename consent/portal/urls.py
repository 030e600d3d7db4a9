"""The developer portal's pages that need what this room keeps, or the scope registry."""

from django.urls import path

from consent.portal import application_pages, keys, pages, sandbox, webhooks
from consent.portal.console.pages import console

app_name = "portal"
_APPLICATION = "developers/applications"
_APP = "developers/apps/<str:app_id>"
_SANDBOX = f"{_APP}/sandbox"
_ENDPOINT = f"{_APP}/webhooks/<int:endpoint_pk>"

urlpatterns = [
    path(f"{_APPLICATION}/new/", application_pages.apply, name="apply"),
    path(f"{_APPLICATION}/<int:pk>/", application_pages.application, name="application"),
    path(f"{_APPLICATION}/<int:pk>/withdraw/", application_pages.withdraw, name="withdraw-application"),
    path(f"{_APPLICATION}/<int:pk>/domain/", application_pages.check_domain, name="application-domain"),
    path(f"{_APP}/keys/", keys.keys, name="keys"),
    path(f"{_APP}/keys/<str:thumbprint>/remove/", keys.remove, name="key-remove"),
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
    path(f"{_APP}/limits/", pages.limits, name="limits"),
    path(f"{_APP}/try/", console, name="try"),
    path(f"{_SANDBOX}/", sandbox.people, name="sandbox"),
    path(f"{_SANDBOX}/new/", sandbox.make_person, name="make-sandbox-person"),
    path(f"{_SANDBOX}/<str:user_id>/", sandbox.person, name="sandbox-person"),
    path(f"{_SANDBOX}/<str:user_id>/clock/", sandbox.move_clock, name="sandbox-clock"),
    path(f"{_SANDBOX}/<str:user_id>/delete/", sandbox.delete_person, name="delete-sandbox-person"),
]
