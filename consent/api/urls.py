"""The developers' REST. No address ends in a slash, and none redirects."""

from django.urls import path

from consent.api import connections, event_stream, leaked_tokens, people, public, views
from consent.notices import api as webhooks

_WEBHOOKS = "api/v1/manage/apps/<str:app_id>/webhooks"
_ENDPOINT = f"{_WEBHOOKS}/<str:endpoint_id>"

urlpatterns = [
    path("api/v1/user-scopes/<str:user_id>", views.UserScopes.as_view(), name="user-scopes"),
    path("api/v1/scope-catalog", views.ScopeCatalog.as_view(), name="scope-catalog"),
    path("api/v1/people", people.People.as_view(), name="people"),
    path("api/v1/connections", connections.Connections.as_view(), name="connections"),
    path("api/v1/connections/<str:id>", connections.Connection.as_view(), name="connection"),
    path("api/v1/connections/<str:id>/complete", connections.Completion.as_view(), name="connection-complete"),
    path("api/v1/request-consent", views.RequestConsent.as_view(), name="request-consent"),
    path("api/v1/consent-status", views.ConsentStatus.as_view(), name="consent-status"),
    path("api/v1/end-consent", views.EndConsent.as_view(), name="end-consent"),
    path("api/v1/consent-requests", views.ConsentRequests.as_view(), name="consent-requests"),
    path("api/v1/consent-events", event_stream.ConsentEvents.as_view(), name="consent-events"),
    path("api/v1/consent-export", views.ConsentExport.as_view(), name="consent-export"),
    path("api/v1/receipts/<str:receipt_id>", views.Receipt.as_view(), name="receipt"),
    path("api/v1/leaked-tokens", leaked_tokens.LeakedTokens.as_view(), name="leaked-tokens"),
    path(_WEBHOOKS, webhooks.Endpoints.as_view(), name="manage-webhooks"),
    path(_ENDPOINT, webhooks.Endpoint.as_view(), name="manage-webhook"),
    path(f"{_ENDPOINT}/test", webhooks.EndpointTest.as_view(), name="manage-webhook-test"),
    path(f"{_ENDPOINT}/rotate-secret", webhooks.EndpointSecret.as_view(), name="manage-webhook-secret"),
    path(f"{_ENDPOINT}/deliveries", webhooks.EndpointDeliveries.as_view(), name="manage-webhook-deliveries"),
    path("api/v1/manage/deliveries/<str:delivery_id>/replay", webhooks.DeliveryReplay.as_view(), name="manage-replay"),
    path(".well-known/consent-keys.json", public.ConsentKeys.as_view(), name="consent-keys"),
    path(".well-known/consent-checkpoint.json", public.ConsentCheckpoint.as_view(), name="consent-checkpoint"),
]
