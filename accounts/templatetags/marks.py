"""What this site and the apps are known by: its name, and the colour of the letter of an app without a logo."""

from hashlib import sha256

from django import template
from django.conf import settings

register = template.Library()
_TILES = 8  # as many as static/css/tokens.css has


@register.filter
def tile(name: str) -> int:
    """A number from 1, the same for the same name wherever it stands.

    A digest, not a sum: sums of names that look alike lie close together, and fall on one colour in a row of eight.
    """
    return sha256(name.encode()).digest()[0] % _TILES + 1


@register.simple_tag
def site_name(part: str = "") -> str:
    """The operator's name for this site; `part` is "first", its first word, or "rest", what comes after it."""
    first, _, rest = settings.SITE_NAME.partition(" ")
    return {"": settings.SITE_NAME, "first": first, "rest": rest}[part]
