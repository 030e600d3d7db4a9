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
    shown = context["request"].resolver_match.view_name
    pages = [
        (gettext("Analyses"), ["profile:home"]),
        (gettext("Your profile"), ["profile:look-up", "profile:create", "profile:update"]),
        (gettext("Messages"), ["messaging:messages"]),
        (gettext("Phone numbers"), ["numbers:numbers", "numbers:code"]),
        (gettext("Agreements"), ["processing:given", "deletions:receivers"]),
    ]
    if client.is_configured():
        pages.append((gettext("Institutions"), ["financial:institutions"]))
    return {"pages": [{"url": reverse(names[0]), "label": label, "current": shown in names} for label, names in pages]}
