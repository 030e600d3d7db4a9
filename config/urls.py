"""Where everything is."""

from django.contrib import admin
from django.urls import include, path

from accounts.interrupted.middleware import leave
from accounts.language import choose_language
from accounts.sign_in.browsers import signed_in_page
from accounts.sign_in.passkeys import RemovePasskey, SignUpByPasskey, create_passkey
from config.health import livez, readyz

handler400 = "config.api.bad_request"
handler404 = "config.api.page_not_found"
handler500 = "config.api.server_error"

urlpatterns = [
    path("livez", livez),
    path("readyz", readyz),
    path("account/waiting/leave/", leave, name="interrupted-leave"),
    path("language/", choose_language, name="set-language"),
    path("admin/", admin.site.urls),
    path("accounts/sessions/", signed_in_page, name="signed-in"),
    path("accounts/signup/passkey/", SignUpByPasskey.as_view(), name="sign-up-by-passkey"),
    path("accounts/signup/passkey/create/", create_passkey, name="create-passkey"),
    path("accounts/2fa/webauthn/keys/<int:pk>/remove/", RemovePasskey.as_view(), name="mfa_remove_webauthn"),
    path("accounts/", include("allauth.urls")),
    path("", include("accounts.name_and_photo.urls")),
    path("", include("accounts.public_profile.urls")),
    path("", include("accounts.erasure.urls")),
    path("", include("pkm.urls")),
    path("", include("developers.urls")),
    path("", include("consent.urls")),
    path("", include("agents_proxy.urls")),
]
