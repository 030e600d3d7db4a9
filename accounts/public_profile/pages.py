"""The pages of the public profile: to write and preview it, its switches, and the page that everybody sees."""

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from accounts.authentication import person_of, signed_in_page
from accounts.interrupted.page_forms import page_button, page_form
from accounts.name_and_photo.pages import NameAndPhotoForm
from accounts.public_profile import actions as profile_actions
from accounts.public_profile import errors
from accounts.public_profile import queries as profile_queries
from accounts.public_profile.handles import LONGEST, SHORTEST
from common.forms import PlainLine

_HANDLE_RULES = _("3 to 32 lower-case letters, digits and hyphens. It ends the address of your page.")
_WORDS = {
    errors.InvalidHandle: _(
        "Use 3 to 32 letters from a to z, digits and single hyphens, with no hyphen first or last."
    ),
    errors.ReservedHandle: _("This word is kept for the service. Choose another one."),
    errors.HandleTaken: _("This handle is taken, or was given up by somebody a short while ago. Choose another one."),
    errors.TooManyHandles: _("You have chosen many handles today. Keep this one, or try again tomorrow."),
}


class PublicProfileForm(forms.Form):
    """All of it is for others to see, and nothing is filled in from what is kept elsewhere."""

    handle = forms.CharField(
        label=_("Handle"), min_length=SHORTEST, max_length=LONGEST, help_text=_HANDLE_RULES,
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false"}),
    )  # fmt: skip
    display_name = PlainLine(label=_("Name to show"), max_length=100, required=False)
    headline = PlainLine(
        label=_("Headline"), max_length=160, required=False, help_text=_("One line about you, such as what you do.")
    )
    location_hint = PlainLine(
        label=_("Where you are"), max_length=100, required=False, help_text=_("As rough as you like, such as a region.")
    )


@page_form(_("Save"), PublicProfileForm)
def edit(request: HttpRequest) -> HttpResponse:
    """Name and photo, the form of what others see, empty until they type into it, and the switches."""
    person = person_of(request)
    own = profile_queries.own_profile(person)
    form = PublicProfileForm(request.POST or None, initial=dict(own["card"]) if own else {}, auto_id="public_%s")
    if request.method == "POST" and _saved(request, form):
        if own is None or not own["is_shown"]:
            return redirect("public-profile-preview")
        messages.success(request, gettext("Saved. Others see it like this now."))
        return redirect("public-profile")
    name_form = NameAndPhotoForm(initial={"display_name": person.display_name})
    shown = {"form": form, "own": own, "address": _address(own), "name_form": name_form}
    return render(request, "people/edit.html", shown)


def _saved(request: HttpRequest, form: PublicProfileForm) -> bool:
    if not form.is_valid():
        return False
    try:
        profile_actions.save_profile(by=person_of(request), **form.cleaned_data)
    except tuple(_WORDS) as refused:
        form.add_error("handle", str(_WORDS[type(refused)]))
        return False
    return True


def _address(own: profile_queries.OwnProfile | None) -> str:
    return f"{settings.BASE_URL}{reverse('person-page', args=[own['card']['handle']])}" if own else ""


@signed_in_page
def preview(request: HttpRequest) -> HttpResponse:
    """What others would see, and the button that lets them."""
    own = profile_queries.own_profile(person_of(request))
    if own is None:
        return redirect("public-profile")
    return render(request, "people/preview.html", {"own": own, "address": _address(own)})


@page_button({"shown=yes": _("Switch on"), "shown=no": _("Switch off")}, "seen")
def switch(request: HttpRequest) -> HttpResponse:
    if request.POST.get("shown") != "yes":
        profile_actions.hide_profile(by=person_of(request))
        messages.success(request, gettext("Your page is off. Nobody sees it, and apps do not find you."))
        return redirect("public-profile")
    try:
        profile_actions.show_profile(by=person_of(request), seen=request.POST.get("seen", ""))
    except errors.NotAsPreviewed:
        messages.error(request, gettext("The text has changed since you looked at it. Look at it again first."))
        return redirect("public-profile-preview")
    messages.success(request, gettext("Your page is on. Everybody who has its address sees it."))
    return redirect("public-profile")


@page_button({"listed=yes": _("Let apps find me"), "listed=no": _("Switch off")})
def directory(request: HttpRequest) -> HttpResponse:
    if request.POST.get("listed") != "yes":
        profile_actions.unlist_profile(by=person_of(request))
        messages.success(request, gettext("Apps no longer find you in the directory."))
        return redirect("public-profile")
    try:
        profile_actions.list_profile(by=person_of(request))
    except errors.NotShown:
        messages.error(request, gettext("Switch your page on first: apps would find what it shows."))
    else:
        messages.success(request, gettext("Apps can find you in the directory now."))
    return redirect("public-profile")


@page_button(_("Remove the public profile"), danger=True)
def remove(request: HttpRequest) -> HttpResponse:
    profile_actions.remove_profile(by=person_of(request))
    messages.success(request, gettext("Your public profile is removed, with all that you typed for it."))
    return redirect("public-profile")


@require_safe
def person(request: HttpRequest, handle: str) -> HttpResponse:
    """Open to everybody while it is on; before and after, the same answer as for a handle that nobody has."""
    card = profile_queries.shown_card(handle)
    if card is None:
        raise Http404
    answer = render(request, "people/person.html", {"card": card})
    answer["X-Robots-Tag"] = "noindex, noarchive"  # a copy with somebody else would outlive the switch
    return answer
