"""The addresses of messages and of phone numbers."""

from django.urls import URLPattern, path

from agents_proxy.messaging import message_pages
from agents_proxy.messaging import pages as views
from agents_proxy.messaging.api import Codes, Inbound, Messages, MessagingView, Numbers, OneNumber, Reports

api: list[URLPattern] = [
    path("messaging", MessagingView.as_view(), {"agent": "messaging"}),
    path("messaging/reports", Reports.as_view()),
    path("messaging/inbound", Inbound.as_view()),
    path("messages", Messages.as_view()),
    path("numbers", Numbers.as_view()),
    path("numbers/codes", Codes.as_view()),
    path("numbers/<int:number_pk>", OneNumber.as_view()),
]

pages = (
    [
        path("", views.numbers, name="numbers"),
        path("<int:number_pk>/code/", views.code, name="code"),
        path("<int:number_pk>/forget/", views.forget, name="forget"),
    ],
    "numbers",
)

message_urls = ([path("", message_pages.sent_messages, name="messages")], "messaging")
