"""The pages of the vault and of its lock."""

from django.urls import include, path

from pkm.web import my_data, reset, security, sharing_id, vault_events

_vault = (
    [
        path("", my_data.overview, name="overview"),
        path("data/<str:domain>/", my_data.domain, name="domain"),
        path("discovery/", my_data.discovery, name="discovery"),
        path("changes/", vault_events.changes, name="changes"),
        path("transfer/", my_data.transfer, name="transfer"),
        path("import/", my_data.keep, name="import"),
        path("setup/", my_data.setup, name="setup"),
        path("setup/first/", my_data.setup_first, name="setup-first"),
        path("setup/preview/", my_data.setup_preview, name="setup-preview"),
        path("setup/done/", my_data.setup_done, name="setup-done"),
        path("sharing-id/", sharing_id.change_sharing_id, name="sharing-id"),
        path("sharing-id.svg", sharing_id.sharing_id_image, name="sharing-id-image"),
    ],
    "vault",
)

urlpatterns = [
    path("vault/", include(_vault)),
    path("account/security/", security.security, name="security"),
    path("account/security/recover/", security.recover, name="recover"),
    path("account/security/reset/", reset.give_up, name="vault-reset"),
    path("account/security/reset/keep/", reset.keep, name="vault-reset-keep"),
    path("account/security/key/", security.change_key, name="change-key"),
    path("account/security/wrappers/<str:wrapper_id>/remove/", security.remove, name="wrapper-remove"),
    path("account/security/wrappers/<str:wrapper_id>/restore/", security.restore, name="wrapper-restore"),
]
