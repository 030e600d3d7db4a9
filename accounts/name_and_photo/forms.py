"""What is typed and chosen for the account's name and photo."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.pictures import LARGEST
from common.text import is_plain


class NameAndPhotoForm(forms.Form):
    """Both at once; a photo that is not chosen anew stays."""

    display_name = forms.CharField(
        label=_("Name"), max_length=100, required=False, widget=forms.TextInput({"autocomplete": "name"}),
        help_text=_("How this service addresses you. Apps and other people do not see it."),
    )  # fmt: skip
    photo = forms.FileField(
        label=_("Photo"), required=False, widget=forms.FileInput({"accept": "image/png,image/jpeg,image/webp"}),
        help_text=_("PNG, JPEG or WebP. It is made small before it is sent, and nobody but you sees it."),
    )  # fmt: skip

    def clean_display_name(self) -> str:
        name = str(self.cleaned_data["display_name"])
        if name and not is_plain(name):
            raise forms.ValidationError(gettext("Use one line of plain text without invisible characters."))
        return name

    def clean_photo(self) -> Any:
        sent: UploadedFile[Any] | None = self.cleaned_data["photo"]
        if sent is not None and (sent.size or 0) > LARGEST:
            raise forms.ValidationError(gettext("A picture has at most 512 KiB."))
        return sent
