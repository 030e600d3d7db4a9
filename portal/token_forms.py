"""What is typed into the pages of tokens."""

from datetime import timedelta
from typing import Any

from django import forms
from django.core import signing
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.forms import PlainLine
from developers.members.models import AppMember
from developers.tokens.format import DEFAULT_LIFETIME, LONGEST_LIFETIME, LONGEST_MANAGEMENT_LIFETIME, new_prefix
from developers.tokens.models import ManagementPermission, Permission

OVERLAPS = (
    ("0", _("At once")),
    ("3600", _("After an hour")),
    ("86400", _("After a day")),
    ("604800", _("After a week")),
    ("2592000", _("After 30 days")),
)


class _NewToken(forms.Form):
    """A form that makes one token, however often it is sent: it holds the prefix that its token will have.

    The prefix is drawn with the page and signed for `owner`, whose form this is.
    """

    label = PlainLine(label=_("Label"), max_length=80, help_text=_("What will use it, such as “backend”."))
    # the metaclass takes the fields away, so that Django's own `prefix` of forms stays
    prefix = forms.CharField(widget=forms.HiddenInput, required=False, max_length=200)  # type: ignore[assignment]

    def __init__(self, *args: Any, owner: str, **kwargs: Any) -> None:
        self._signer = signing.Signer(salt=f"prefix-of-new-token:{owner}")
        kwargs["initial"] = {"prefix": self._signer.sign(new_prefix())}
        super().__init__(*args, **kwargs)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        try:
            cleaned["prefix"] = self._signer.unsign(cleaned.get("prefix", ""))
        except signing.BadSignature:
            raise forms.ValidationError(gettext("This page is too old. Reload it and try again.")) from None
        return cleaned


def _ticked(cleaned: dict[str, Any], permissions: list[str]) -> list[str]:
    ticked = [name for name in permissions if cleaned.get(name)]
    if not ticked:
        raise forms.ValidationError(gettext("Choose at least one permission."))
    return ticked


class TokenForm(_NewToken):
    """A token of an app."""

    discover = forms.BooleanField(label=Permission.DISCOVER.label, required=False, initial=True)
    request = forms.BooleanField(label=Permission.REQUEST.label, required=False, initial=True)
    read = forms.BooleanField(label=Permission.READ.label, required=False, initial=True)
    header_only = forms.BooleanField(
        label=_("Only in the header"), required=False, help_text=_("Refused in an address, where logs would keep it.")
    )
    days = forms.IntegerField(
        label=_("Expires after (days)"), min_value=1, max_value=LONGEST_LIFETIME.days, initial=DEFAULT_LIFETIME.days
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        cleaned["permissions"] = _ticked(cleaned, Permission.values)
        return cleaned


class RotateForm(forms.Form):
    overlap = forms.TypedChoiceField(
        label=_("The old token ends"),
        coerce=lambda seconds: timedelta(seconds=int(seconds)),
        choices=OVERLAPS,
        widget=forms.RadioSelect,
        initial="86400",
    )


class ManagementTokenForm(_NewToken):
    """A person's own token for one of their apps, or for all of them."""

    app = forms.ChoiceField(label=_("App"), widget=forms.RadioSelect, initial="*")
    read = forms.BooleanField(label=ManagementPermission.READ.label, required=False, initial=True)
    write = forms.BooleanField(label=ManagementPermission.WRITE.label, required=False)
    days = forms.IntegerField(
        label=_("Expires after (days)"),
        min_value=1,
        max_value=LONGEST_MANAGEMENT_LIFETIME.days,
        initial=LONGEST_MANAGEMENT_LIFETIME.days,
    )

    def __init__(self, *args: Any, memberships: list[AppMember], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        own = [(member.app.app_id, member.app.name) for member in memberships]
        self.fields["app"].choices = [("*", gettext("Every app of yours, new ones too")), *own]  # type: ignore[attr-defined]  # of a choice field

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        cleaned["permissions"] = {cleaned.get("app", "*"): _ticked(cleaned, ManagementPermission.values)}
        return cleaned
