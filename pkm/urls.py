"""The vault's addresses, its pages last."""

from django.urls import URLPattern, URLResolver, include, path

from pkm import views

urlpatterns: list[URLPattern | URLResolver] = [
    path("vault/keys", views.Keys.as_view()),
    path("vault/wrappers", views.Wrappers.as_view()),
    path("vault/wrappers/<str:wrapper_id>", views.Wrapper.as_view()),
    path("vault/wrappers/<str:wrapper_id>/restore", views.RestoreWrapper.as_view()),
    path("vault/unlocked", views.Unlocked.as_view()),
    path("vault/segments", views.Segments.as_view()),
    path("vault/segments/<str:domain>/<str:segment_id>", views.Segment.as_view()),
    path("vault/hidden-scopes/<str:scope>", views.HiddenScope.as_view()),
    path("", include("pkm.urls_pages")),
]
