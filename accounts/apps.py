"""The room of who people are."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = _("People")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from allauth.account.signals import password_changed, password_reset, user_signed_up
        from allauth.account.signals import user_logged_in as signed_in
        from django.contrib.auth.signals import user_logged_in

        from accounts.authentication import count_sign_up, void_attempts
        from accounts.interrupted.account_forms import ACTIONS
        from accounts.interrupted.page_actions import register
        from accounts.language import keep_first_language
        from accounts.sign_in.browsers import note_browser

        user_logged_in.connect(keep_first_language, dispatch_uid="keep-first-language")
        signed_in.connect(note_browser, dispatch_uid="note-browser")
        user_signed_up.connect(count_sign_up, dispatch_uid="count-sign-up")
        password_changed.connect(void_attempts, dispatch_uid="void-attempts")
        password_reset.connect(void_attempts, dispatch_uid="void-attempts")
        register(ACTIONS)
