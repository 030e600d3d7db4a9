"""Keeping what an analysis found: the browser fetches it as data and seals what is ticked. Nothing is copied here."""

import re
from typing import TYPE_CHECKING, cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from pkm.registry.labels import translated
from pkm.registry.vocabulary import for_script, word
from pkm.vault import queries as vault_queries
from pkm.vault.models import VaultStatus
from pkm.web import queries as web_queries

if TYPE_CHECKING:
    from accounts.models import User

_ANALYSIS = re.compile(r"ana_[a-z2-7]{10,60}\Z")


@login_required
@require_safe
def keep(request: HttpRequest) -> HttpResponse:
    """The page alone, with where each attribute has its place; the analysis is named in the address."""
    user = cast("User", request.user)
    if vault_queries.status_of(user) == VaultStatus.ABSENT:
        return redirect("vault:setup")
    named = request.GET.get("analysis", "")
    found = _ANALYSIS.match(named)
    places = _places(user)
    return render(
        request,
        "vault/import.html",
        {"analysis": named if found else "", "places": places},
        status=200 if found else 404,
    )


def _places(user: "User") -> dict[str, dict[str, object]]:
    """Attribute name → the segment that it is kept in and the words that it is shown with."""
    return {
        attribute["name"]: {
            "domain": card["domain"],
            "segment": segment["segment_id"],
            "group": f"{translated(card['label'])}: {translated(segment['label'])}",
            "word": for_script(
                word(f"{card['domain']}.{segment['segment_id']}.{attribute['name']}"), translated(attribute["label"])
            ),
        }
        for card in web_queries.my_data(user)
        for segment in card["segments"]
        for attribute in segment["attributes"]
    }
