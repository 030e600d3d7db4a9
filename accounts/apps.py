"""The room of who people are."""

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _

from common.sql.triggers import install_rules_of_room


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = _("People")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from allauth.account import signals
        from allauth.mfa.signals import authenticator_added, authenticator_reset
        from django.contrib.auth.signals import user_logged_in, user_logged_out

        from accounts import tasks  # noqa: F401  # they are told by name: see common.broker
        from accounts.alerts.push import forget_signed_out, unsubscribe_all, unsubscribe_elsewhere
        from accounts.authentication import count_sign_up, take_access_back, void_attempts
        from accounts.erasure.rows import ROOM
        from accounts.hooks import access_taken_back, register_room
        from accounts.interrupted.account_forms import FORMS
        from accounts.interrupted.page_forms import register
        from accounts.language import keep_first_language
        from accounts.outbox import register_gathering
        from accounts.personas import note_personas
        from accounts.security_mail import GATHERING
        from accounts.sign_in.addresses import take_confirmed
        from accounts.sign_in.browsers import note_browser
        from accounts.sign_in.second_factors import count_new_codes, turn_on
        from accounts.zones import keep_first_zone

        user_logged_in.connect(keep_first_language, dispatch_uid="keep-first-language")
        user_logged_in.connect(note_personas, dispatch_uid="note-personas")
        user_logged_out.connect(forget_signed_out, dispatch_uid="forget-signed-out")
        access_taken_back.connect(unsubscribe_all, dispatch_uid="unsubscribe-all")
        signals.password_changed.connect(unsubscribe_elsewhere, dispatch_uid="unsubscribe-elsewhere")
        signals.password_set.connect(unsubscribe_elsewhere, dispatch_uid="unsubscribe-elsewhere")
        signals.user_logged_in.connect(note_browser, dispatch_uid="note-browser")
        signals.user_signed_up.connect(count_sign_up, dispatch_uid="count-sign-up")
        signals.user_signed_up.connect(keep_first_zone, dispatch_uid="keep-first-zone")
        signals.password_changed.connect(void_attempts, dispatch_uid="void-attempts")
        signals.password_reset.connect(void_attempts, dispatch_uid="void-attempts")
        signals.password_reset.connect(take_access_back, dispatch_uid="take-access-back")
        signals.email_confirmed.connect(take_confirmed, dispatch_uid="take-confirmed")
        authenticator_added.connect(turn_on, dispatch_uid="turn-on")
        authenticator_reset.connect(count_new_codes, dispatch_uid="count-new-codes")
        register(FORMS)
        register_gathering("changed ways in", GATHERING)
        register_room(ROOM)
        post_migrate.connect(install_rules_of_room, sender=self)
        post_migrate.connect(_install_erasures, sender=self)


def _install_erasures(using: str, **_ignored: Any) -> None:
    from accounts.hooks import room_erasures

    for room in room_erasures():
        room.rows.install(connections[using])
