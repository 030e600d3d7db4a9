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
        (gettext("Analyses"), ["profile:home"]),
        (gettext("Your profile"), ["profile:look-up", "profile:create", "profile:update"]),
        (gettext("Messages"), ["messaging:messages"]),
        (gettext("Phone numbers"), ["numbers:numbers"]),
        (gettext("Agreements"), ["processing:given"]),
    ]
    if client.is_configured():
        pages.append((gettext("Institutions"), ["financial:institutions"]))
    found = [(label, [reverse(name) for name in names]) for label, names in pages]
    return {"pages": [{"url": urls[0], "label": label, "current": path in urls} for label, urls in found]}
