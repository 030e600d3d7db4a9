"""What forms of several rooms check."""

from typing import Any

from django import forms
from django.utils.translation import gettext

from common.text import is_plain


def plain_line(text: str) -> str:
    """`text`, which people will read: where it is there, it is one line that shows as it is written."""
    if text and not is_plain(text):
        raise forms.ValidationError(gettext("Use one line of plain text without invisible characters."))
    return text


class PlainLine(forms.CharField):
    def clean(self, value: Any) -> str:
        return plain_line(super().clean(value))
