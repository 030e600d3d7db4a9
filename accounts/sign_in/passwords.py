"""Passwords that somebody who knows this service would try first."""

import re
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError

# what SECURITY.md lists; the labels of the service's own host come on top
WORDS = ("runtime", "consent", "vault", "einwilligung", "passwort", "password", "admin")
ENOUGH = 6  # characters beside these words and beside digits and signs


class CommonOrOfThisService(CommonPasswordValidator):
    """Refuses common passwords, and those that are little more than words of this service: `ConsentRuntime2026!`."""

    def validate(self, password: str, user: object = None) -> None:
        super().validate(password, user)  # type: ignore[arg-type]  # only its text is looked at
        rest = re.sub("|".join(map(re.escape, _words())), "", password.lower())
        if rest != password.lower() and len(re.sub(r"[\W\d_]", "", rest)) < ENOUGH:
            raise ValidationError(self.get_error_message(), code="password_too_common")


def _words() -> list[str]:
    """Longest first, so that none is left over of a longer one."""
    labels = (urlsplit(settings.BASE_URL).hostname or "").lower().split(".")
    return sorted({*WORDS, *(label for label in labels if len(label) > 3)}, key=len, reverse=True)
