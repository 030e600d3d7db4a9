"""The addresses of analyses."""

from django.urls import URLPattern, path, re_path

from agents_proxy.analyses import pages as views
from agents_proxy.analyses.api import Analyses, Analysis, Answer, Cancel, Corrections, Raw, Retry
from agents_proxy.analyses.profile_call_pages import KINDS, profile_call_page

_ID = r"^(?P<analysis_id>ana_[a-z2-7]{10,60})/"

api: list[URLPattern] = [
    path("analyses", Analyses.as_view()),
    path("analyses/<str:analysis_id>", Analysis.as_view()),
    path("analyses/<str:analysis_id>/cancel", Cancel.as_view()),
    path("analyses/<str:analysis_id>/corrections", Corrections.as_view()),
    path("analyses/<str:analysis_id>/raw", Raw.as_view()),
    path("analyses/<str:analysis_id>/steps/<str:agent>/answer", Answer.as_view()),
    path("analyses/<str:analysis_id>/steps/<str:agent>/retry", Retry.as_view()),
]

pages = (
    [
        path("", views.home, name="home"),
        *(path(f"{kind}/", profile_call_page, {"kind": kind}, name=kind) for kind in KINDS),
        re_path(_ID + r"$", views.run, name="run"),
        re_path(_ID + r"raw/$", views.raw, name="raw"),
        re_path(_ID + r"cancel/$", views.cancel, name="cancel"),
        re_path(_ID + r"retry/(?P<agent>[a-z-]{1,32})/$", views.retry, name="retry"),
        re_path(_ID + r"answer/(?P<agent>[a-z-]{1,32})/$", views.answer, name="answer"),
        re_path(_ID + r"correct/$", views.correct, name="correct"),
        re_path(_ID + r"delete/$", views.delete, name="delete"),
        re_path(_ID + r"brand-affinity/$", views.affinity, name="affinity"),
        re_path(_ID + r"brand-affinity\.(?P<form>json|csv|segment|salesforce|hubspot)$", views.crm, name="crm"),
    ],
    "profile",
)
