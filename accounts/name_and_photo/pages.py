"""The page of a person's own name and photo, and the photo itself."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.authentication import person_of
from accounts.interrupted.page_forms import page_button, page_form
from accounts.name_and_photo import actions as own_actions
from accounts.name_and_photo.errors import TooManyPhotos
from accounts.name_and_photo.forms import NameAndPhotoForm
from accounts.name_and_photo.queries import photo_of
from common.problems import InvalidRequest


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@page_form(_("Save"), NameAndPhotoForm)
def edit(request: HttpRequest) -> HttpResponse:
    """Both in one form; what was typed stays where the photo does not fit."""
    initial = {"display_name": person_of(request).display_name}
    form = NameAndPhotoForm(request.POST or None, request.FILES or None, initial=initial)
    if request.method == "POST" and _saved(request, form):
        messages.success(request, gettext("Saved."))
        return redirect("name-and-photo")
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


@require_POST
@login_required
@page_button(_("Remove the photo"), danger=True)
def remove(request: HttpRequest) -> HttpResponse:
    own_actions.remove_photo(by=person_of(request))
    messages.success(request, gettext("Your photo is removed."))
    return redirect("name-and-photo")


@login_required
@require_safe
def photo(request: HttpRequest) -> HttpResponse:
    """The signed-in person's own, and nobody else's; pages name its digest, so that a browser asks once."""
    webp = photo_of(person_of(request))
    if webp is None:
        raise Http404
    answer = HttpResponse(webp, content_type="image/webp")
    answer["Cache-Control"] = "private, max-age=86400"
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
