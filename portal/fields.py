"""Fields that forms of several pages have."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.problems import InvalidRequest
from developers.applications.facts import MOST_ADDRESSES
from developers.webhooks.policies import LONGEST_ADDRESS, check_address
from developers.webhooks.words import address_refused


class ReceiverAddress(forms.URLField):
    """The address of a program that is sent something by us."""

    def __init__(self) -> None:
        super().__init__(label=_("Address"), max_length=LONGEST_ADDRESS, assume_scheme="https")

    def clean(self, value: Any) -> str:
        url: str = super().clean(value)
        try:
            check_address(url)
        except InvalidRequest as refused:
            raise forms.ValidationError(address_refused(refused)) from None
        return url


def lines_of(text: str) -> list[str]:
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def refuse(words: str, unfit: Iterable[str]) -> None:
    """Raise with `words` for each of these lines."""
    complaints = [words % {"line": line[:100]} for line in islice(unfit, MOST_ADDRESSES)]
    if complaints:
        raise forms.ValidationError(complaints)


def limited(found: list[str]) -> list[str]:
    """`found`, where it is no longer than a list of addresses may be."""
    if len(found) > MOST_ADDRESSES:
        raise forms.ValidationError(gettext("At most %(n)d, one a line.") % {"n": MOST_ADDRESSES})
    return list(dict.fromkeys(found))
