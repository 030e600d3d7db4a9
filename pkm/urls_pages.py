"""The pages of the vault and of its lock."""

from django.urls import include, path

from pkm import pages, pages_import, pages_security

_vault = (
    [
        path("", pages.overview, name="overview"),
        path("data/<str:domain>/", pages.domain, name="domain"),
        path("discovery/", pages.discovery, name="discovery"),
        path("transfer/", pages.transfer, name="transfer"),
        path("import/", pages_import.keep, name="import"),
        path("setup/", pages.setup, name="setup"),
        path("setup/first/", pages.setup_first, name="setup-first"),
        path("setup/preview/", pages.setup_preview, name="setup-preview"),
        path("setup/done/", pages.setup_done, name="setup-done"),
        path("sharing-id.svg", pages.sharing_id_image, name="sharing-id"),
    ],
    "vault",
)

urlpatterns = [
    path("vault/", include(_vault)),
    path("account/security/", pages_security.security, name="security"),
    path("account/security/wrappers/<str:wrapper_id>/remove/", pages_security.remove, name="wrapper-remove"),
    path("account/security/wrappers/<str:wrapper_id>/restore/", pages_security.restore, name="wrapper-restore"),
]
