"""The addresses of messages, phone numbers and the aggregator."""

from django.urls import URLPattern, path

from agents_proxy.api import financial, messaging

urlpatterns: list[URLPattern] = [
    path("messaging", messaging.MessagingView.as_view(), {"agent": "messaging"}),
    path("messaging/reports", messaging.Reports.as_view()),
    path("messages", messaging.Messages.as_view()),
    path("numbers", messaging.Numbers.as_view()),
    path("numbers/codes", messaging.Codes.as_view()),
    path("numbers/<int:number_pk>", messaging.OneNumber.as_view()),
    path("financial/links", financial.Links.as_view()),
    path("financial/items", financial.Items.as_view(), name="financial-items"),
    path("financial/items/<str:item_id>", financial.OneItem.as_view()),
    path("financial/items/<str:item_id>/refreshes", financial.Refreshes.as_view()),
    path("financial/items/<str:item_id>/identity", financial.Identity.as_view()),
    path("financial/signals", financial.Signals.as_view()),
]
