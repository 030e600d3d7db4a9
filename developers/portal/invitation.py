"""The page that the link of an invitation opens. Whoever holds the link sees which app it is for, signed in or not."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from accounts.interrupted.page_forms import page_form
from common.problems import Problem
from developers.members import invitations
from developers.members.models import AppMember
from developers.portal.shell import portal_page
from developers.portal.team_words import in_words


@page_form({"own": _("Own the app"), "": _("Join the team")})
@require_http_methods(["GET", "HEAD", "POST"])
def accept(request: HttpRequest, secret: str) -> HttpResponse:
    """What the invitation is for; by POST the one who is signed in joins."""
    if request.method == "POST" and request.user.is_authenticated:
        try:
            member = invitations.accept_invitation(secret=secret, by=request.user)
        except Problem as problem:
            messages.error(request, in_words(problem))
            return _page(request, secret, status=problem.status)
        messages.success(request, gettext("You are in the team of %(app)s now.") % {"app": member.app.name})
        return redirect("developers:app", member.app.app_id)
    return _page(request, secret)


def _page(request: HttpRequest, secret: str, status: int = 200) -> HttpResponse:
    found = invitations.open_invitation(secret)
    user = request.user if request.user.is_authenticated else None
    joined = AppMember.objects.filter(app=found.app, user=user) if found and user else AppMember.objects.none()
    context = {
        "invitation": found,
        "is_member": joined.exists(),
        "is_for_them": bool(found and user and invitations.is_for(found, user)),
        "back": urlencode({"next": reverse("developers:invitation", args=[secret])}) if found else "",
    }
    status = status if found or status != 200 else 404
    return portal_page(request, "developers/invitation.html", context, status=status)
