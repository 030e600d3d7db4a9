"""The addresses of consent to processing."""

from django.urls import URLPattern, path

from agents_proxy.processing_consent import pages as views
from agents_proxy.processing_consent.api import Consents, OneConsent, Renewal

api: list[URLPattern] = [
    path("consents", Consents.as_view(), name="a2a-consents"),
    path("consents/<str:consent_id>", OneConsent.as_view()),
    path("consents/<str:consent_id>/renew", Renewal.as_view()),
]

pages = (
    [
        path("", views.agree, name="consent"),
        path("given/", views.given, name="given"),
        path("<str:consent_id>/renew/", views.renew, name="renew"),
        path("<str:consent_id>/withdraw/", views.withdraw, name="withdraw"),
    ],
    "processing",
)
