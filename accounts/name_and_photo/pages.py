"""The page of a person's own name and photo, and the photo itself."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of, signed_in_page
from accounts.interrupted.page_forms import page_button, page_form
from accounts.name_and_photo import actions as own_actions
from accounts.name_and_photo.actions import TooManyPhotos, photo_of
from common.forms import PlainLine
from common.pictures import LARGEST
from common.problems import InvalidRequest


class NameAndPhotoForm(forms.Form):
    """Both at once; a photo that is not chosen anew stays."""

    display_name = PlainLine(
        label=_("Name"), max_length=100, required=False, widget=forms.TextInput({"autocomplete": "name"}),
        help_text=_("How this service addresses you. Apps and other people do not see it."),
    )  # fmt: skip
    photo = forms.FileField(
        label=_("Photo"), required=False, widget=forms.FileInput({"accept": "image/png,image/jpeg,image/webp"}),
        help_text=_("PNG, JPEG or WebP. It is made small before it is sent, and nobody but you sees it."),
    )  # fmt: skip

    def clean_photo(self) -> Any:
        sent: UploadedFile[Any] | None = self.cleaned_data["photo"]
        if sent is not None and (sent.size or 0) > LARGEST:
            raise forms.ValidationError(gettext("A picture has at most 512 KiB."))
        return sent


@page_form(_("Save"), NameAndPhotoForm)
def edit(request: HttpRequest) -> HttpResponse:
    """Takes the form of the profile's page; what was typed stays where the photo does not fit."""
    if request.method != "POST":
        return redirect("public-profile")
    form = NameAndPhotoForm(request.POST, request.FILES)
    if _saved(request, form):
        messages.success(request, gettext("Saved."))
        return redirect("public-profile")
    return render(request, "account_security/name_and_photo.html", {"form": form})


def _saved(request: HttpRequest, form: NameAndPhotoForm) -> bool:
    if not form.is_valid():
        return False
    person, sent = person_of(request), form.cleaned_data["photo"]
    try:
        if sent is not None:
            own_actions.take_photo(by=person, sent=sent)
    except InvalidRequest as refused:
        form.add_error("photo", refused.detail)
        return False
    except TooManyPhotos:
        form.add_error("photo", gettext("You sent many photos within an hour. Try again later."))
        return False
    own_actions.rename(by=person, display_name=form.cleaned_data["display_name"])
    return True


@page_button(_("Remove the photo"), danger=True)
def remove(request: HttpRequest) -> HttpResponse:
    own_actions.remove_photo(by=person_of(request))
    messages.success(request, gettext("Your photo is removed."))
    return redirect("public-profile")


@signed_in_page
def photo(request: HttpRequest) -> HttpResponse:
    """The signed-in person's own, and nobody else's; pages name its digest, so that a browser asks once."""
    webp = photo_of(person_of(request))
    if webp is None:
        raise Http404
    answer = HttpResponse(webp, content_type="image/webp")
    answer["Cache-Control"] = "private, max-age=86400"
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
