"""The addresses of analyses."""

from django.urls import URLPattern, path

from agents_proxy.api import analyses

urlpatterns: list[URLPattern] = [
    path("analyses", analyses.Analyses.as_view()),
    path("analyses/<str:analysis_id>", analyses.Analysis.as_view()),
    path("analyses/<str:analysis_id>/cancel", analyses.Cancel.as_view()),
    path("analyses/<str:analysis_id>/raw", analyses.Raw.as_view()),
    path("analyses/<str:analysis_id>/steps/<str:agent>/retry", analyses.Retry.as_view()),
]
