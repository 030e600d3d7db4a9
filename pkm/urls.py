"""The vault's addresses, its pages last."""

from django.urls import URLPattern, URLResolver, include, path

from pkm.legacy import api as legacy_api
from pkm.web import api, rotation_api
from pkm.web import api as vault_api

urlpatterns: list[URLPattern | URLResolver] = [
    path("vault/keys", vault_api.Keys.as_view()),
    path("vault/signing-key", vault_api.SigningKey.as_view()),
    path("vault/notes", vault_api.Notes.as_view()),
    path("vault/wrappers", vault_api.Wrappers.as_view()),
    path("vault/wrappers/<str:wrapper_id>", vault_api.Wrapper.as_view()),
    path("vault/wrappers/<str:wrapper_id>/restore", vault_api.RestoreWrapper.as_view()),
    path("vault/reset", api.Reset.as_view()),
    path("vault/unlocked", vault_api.Unlocked.as_view()),
    path("vault/segments", vault_api.Segments.as_view()),
    path("vault/segments/<str:domain>/<str:segment_id>", vault_api.Segment.as_view()),
    path("vault/hidden-scopes/<str:scope>", vault_api.HiddenScope.as_view()),
    path("vault/rotation", rotation_api.Rotation.as_view()),
    path("vault/rotation/finish", rotation_api.FinishRotation.as_view()),
    path("vault/rotation/notes", rotation_api.ResealedNotes.as_view()),
    path("vault/rotation/segments/<str:domain>/<str:segment_id>", rotation_api.ResealedSegment.as_view()),
    path("vault/legacy", legacy_api.OldData.as_view()),
    path("vault/legacy/progress", legacy_api.Progress.as_view()),
    path("vault/legacy/<str:domain>/finish", legacy_api.Finish.as_view()),
    path("", include("pkm.web.urls")),
]
