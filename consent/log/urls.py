"""The addresses of the log, for whoever reads it."""

from django.urls import path

from consent.log import api

urlpatterns = [
    path("log/checkpoint", api.LogCheckpoint.as_view(), name="log-checkpoint"),
    path("log/key", api.LogKey.as_view(), name="log-key"),
    path("log/witnesses", api.LogWitnesses.as_view(), name="log-witnesses"),
    path("log/tile/entries/<path:place>", api.LogEntries.as_view(), name="log-entries"),
    path("log/tile/<str:level>/<path:place>", api.LogTile.as_view(), name="log-tile"),
    path("log/proof/<str:entry_hash>", api.LogProof.as_view(), name="log-proof"),
    path("log/consistency", api.LogConsistency.as_view(), name="log-consistency"),
]
