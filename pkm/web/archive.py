"""A sealed archive of the vault: the browser makes it from what the server keeps anyway, and brings one in."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from accounts.authentication import person_of
from pkm.web.my_data import has_vault, segments_in_words


@login_required
@require_safe
def archive(request: HttpRequest) -> HttpResponse:
    """The page alone, with the words of each segment that has a place here."""
    user = person_of(request)
    if not has_vault(user):
        return redirect("vault:setup")
    return render(request, "vault/archive.html", {"known": segments_in_words(user)})
