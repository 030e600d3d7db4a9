"""Sentences of the sign-in library that its German catalogue says with "Sie"; ours overrides them with "du"."""

from django.utils.translation import gettext_noop

OVERRIDDEN = (
    gettext_noop("Use your password"),
    gettext_noop("Use authenticator app or code"),
    gettext_noop("Use a security key"),
    gettext_noop("You cannot add an email address to an account protected by two-factor authentication."),
    gettext_noop("You cannot deactivate two-factor authentication."),
    gettext_noop("You cannot generate recovery codes without having two-factor authentication enabled."),
    gettext_noop("You cannot activate two-factor authentication until you have verified your email address."),
    gettext_noop(
        "Enabling passwordless operation allows you to sign in using just this key, but imposes additional "
        "requirements such as biometrics or PIN protection."
    ),
)
