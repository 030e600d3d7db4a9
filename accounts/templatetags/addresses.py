"""`{{ text|breakable }}`: an address too long for its line breaks between its parts, not inside a word."""

import re

from django import template
from django.utils.html import format_html, format_html_join

register = template.Library()
_BETWEEN_PARTS = re.compile(r"(?<=[^\s@./])(?=[@./][^\s@./])")


@register.filter
def breakable(text: str) -> str:
    """`text` with a chance to break before each `@`, dot and `/` inside a word; as it is where it holds no address."""
    if "@" not in text and "://" not in text:
        return text
    first, *rest = _BETWEEN_PARTS.split(text)
    return format_html("{}", first) + format_html_join("", "<wbr>{}", ((part,) for part in rest))
