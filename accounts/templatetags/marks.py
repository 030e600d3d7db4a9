"""What this site and the apps are known by: its name, logo and accent, the colour of an app's letter; times in mail."""

from datetime import datetime
from hashlib import sha256

from django import template
from django.conf import settings
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

from common.clock import in_mail
from common.colours import css_variables_of

register = template.Library()
_TILES = 8  # as many as static/css/tokens.css has


@register.filter
def tile(name: str) -> int:
    """A number from 1, the same for the same name wherever it stands.

    A digest, not a sum: sums of names that look alike lie close together, and fall on one colour in a row of eight.
    """
    return sha256(name.encode()).digest()[0] % _TILES + 1


@register.filter("in_mail")
def time_in_mail(at: datetime | None) -> str:
    return in_mail(at) if at else ""


@register.simple_tag
def site_name(part: str = "") -> str:
    """The operator's name for this site; `part` is "first", its first word, or "rest", what comes after it."""
    first, _, rest = settings.SITE_NAME.partition(" ")
    return {"": settings.SITE_NAME, "first": first, "rest": rest}[part]


@register.simple_tag
def site_logo(ours: str) -> str:
    """The address of the operator's logo, or of this file of ours: also where the logo was not gathered yet."""
    if settings.SITE_LOGO:
        try:
            return static(f"site/{settings.SITE_LOGO.name}")
        except ValueError:  # the storage knows no such file before `collectstatic`
            pass
    return static(ours)


@register.simple_tag
def site_accent() -> SafeString | str:
    """What static/js/shell.js makes the operator's colours of; nothing without. A style sheet would be no release's."""
    if not settings.SITE_ACCENT:
        return ""
    variables = css_variables_of(settings.SITE_ACCENT)
    content = "; ".join(f"{name} {light} {dark}" for name, (light, dark) in variables.items())
    return format_html('<meta name="accent" content="{}">', content)
