"""Every address of this room."""

from django.urls import include, path, re_path

from accounts.alerts.api import PushView
from accounts.appearance import settings_page
from accounts.erasure import pages as erasure
from accounts.interrupted.middleware import leave
from accounts.language import choose_language
from accounts.name_and_photo import pages as name_and_photo
from accounts.public_profile import pages as profile
from accounts.sign_in.addresses import Addresses, ConfirmAddress
from accounts.sign_in.browsers import signed_in_page
from accounts.sign_in.passkeys import RemovePasskey, SignUpByPasskey, create_passkey

urlpatterns = [
    path("account/waiting/leave/", leave, name="interrupted-leave"),
    path("language/", choose_language, name="set-language"),
    path("accounts/sessions/", signed_in_page, name="signed-in"),
    path("accounts/signup/passkey/", SignUpByPasskey.as_view(), name="sign-up-by-passkey"),
    path("accounts/signup/passkey/create/", create_passkey, name="create-passkey"),
    path("accounts/2fa/webauthn/keys/<int:pk>/remove/", RemovePasskey.as_view(), name="mfa_remove_webauthn"),
    path("accounts/email/", Addresses.as_view(), name="account_email"),
    re_path(r"^accounts/confirm-email/(?P<key>[-:\w]+)/$", ConfirmAddress.as_view(), name="account_confirm_email"),
    path("accounts/", include("allauth.urls")),
    path("account/name/", name_and_photo.edit, name="name-and-photo"),
    path("account/name/photo/", name_and_photo.photo, name="own-photo"),
    path("account/name/photo/remove/", name_and_photo.remove, name="own-photo-remove"),
    path("account/push", PushView.as_view()),
    path("account/settings/", settings_page, name="settings"),
    path("account/public-profile/", profile.edit, name="public-profile"),
    path("account/public-profile/preview/", profile.preview, name="public-profile-preview"),
    path("account/public-profile/switch/", profile.switch, name="public-profile-switch"),
    path("account/public-profile/directory/", profile.directory, name="public-profile-directory"),
    path("account/public-profile/remove/", profile.remove, name="public-profile-remove"),
    path("people/<str:handle>/", profile.person, name="person-page"),
    path("account/delete/", erasure.delete, name="account-delete"),
    path("account/delete/keep/", erasure.keep, name="account-keep"),
    path("account/delete/undo/", erasure.keep_by_mail, name="account-keep-by-mail"),
]
