"""The sharing ID on the person's pages: an invitation that they give to one app."""

import io

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of, signed_in_page
from accounts.interrupted.page_forms import Field, page_button
from accounts.models import User
from accounts.sharing_id import NoSuchApp, end_sharing_id, make_sharing_id, sharing_id_of

_LONGEST_NAME = 253  # of a domain; names and IDs of apps are shorter


@page_button(
    {"then=make": _("Make a sharing ID"), "then=replace": _("Make a new one"), "then=off": _("Switch it off")},
    Field("app", _("Only for this app"), "text", _LONGEST_NAME),
)
def change_sharing_id(request: HttpRequest) -> HttpResponse:
    """Make one, put a new one in its place, or switch it off; works without a script."""
    person, then = person_of(request), request.POST.get("then")
    if then == "off":
        end_sharing_id(by=person)
        messages.success(request, gettext("Switched off. No app can use your sharing ID any more."))
    else:
        _make(request, person, replaces=then == "replace")
    if request.POST.get("back") == "setup":
        return redirect("vault:setup-preview")
    return redirect(f"{reverse('vault:overview')}#sharing-id-title")


def _make(request: HttpRequest, person: User, *, replaces: bool) -> None:
    name = request.POST.get("app", "").strip()[:_LONGEST_NAME]
    try:
        make_sharing_id(by=person, for_app=name)
    except NoSuchApp as refused:
        message = gettext("There is no app called “%(name)s” here. Nothing was changed.")
        if refused.is_ambiguous:
            message = gettext("Several apps are called “%(name)s”. Give the website or the app ID of the one you mean.")
        messages.error(request, message % {"name": name})
        return
    if replaces:
        messages.success(request, gettext("This is your new sharing ID. The one before it stopped working."))
    else:
        messages.success(request, gettext("Give your sharing ID to one app. It works for seven days."))


@signed_in_page
def sharing_id_image(request: HttpRequest) -> HttpResponse:
    import qrcode  # for this one picture
    import qrcode.image.svg

    found = sharing_id_of(person_of(request))
    if found is None:
        raise Http404
    image = qrcode.make(found.sharing_id, image_factory=qrcode.image.svg.SvgPathFillImage, border=2, box_size=12)
    written = io.BytesIO()
    image.save(written)
    return HttpResponse(written.getvalue(), content_type="image/svg+xml")
