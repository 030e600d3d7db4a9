"""`{% agents_nav %}`: the ways between the pages of this room."""

from typing import Any

from django import template
from django.urls import reverse
from django.utils.translation import gettext

from agents_proxy.financial import client

register = template.Library()


@register.inclusion_tag("agents/nav.html", takes_context=True)
def agents_nav(context: template.Context) -> dict[str, Any]:
    """Institutions are left out where no aggregator is configured: there is no such page then."""
    path = context["request"].path
    pages = [
        ("profile:home", gettext("Analyses")),
        ("profile:ask", gettext("Your profile")),
        ("processing:given", gettext("Agreements")),
        ("numbers:numbers", gettext("Phone numbers")),
    ]
    if client.is_configured():
        pages.append(("financial:institutions", gettext("Institutions")))
    asking = [reverse("profile:ask", args=[kind]) for kind in ("look-up", "create", "update")]
    found = [(asking if name == "profile:ask" else [reverse(name)], label) for name, label in pages]
    return {"pages": [{"url": urls[0], "label": label, "current": path in urls} for urls, label in found]}
