"""Where a line breaks: `{{ text|breakable }}` lets a long address break between its parts, not inside a word, and
`{{ title|unbroken }}` keeps "e-mail" in one piece, which browsers break after its hyphen."""

import re

from django import template
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()
_BETWEEN_PARTS = re.compile(r"(?<=[^\s@./])(?=[@./][^\s@./])")
_ONE_WORD = re.compile(r"\be-mail", re.IGNORECASE)


@register.filter
def breakable(text: str) -> str:
    """`text` with a chance to break before each `@`, dot and `/` inside a word; as it is where it holds no address."""
    if "@" not in text and "://" not in text:
        return text
    first, *rest = _BETWEEN_PARTS.split(text)
    return format_html("{}", first) + format_html_join("", "<wbr>{}", ((part,) for part in rest))


@register.filter
def unbroken(text: str) -> SafeString:
    """No hyphen of another kind, which is not in every font and which no search on the page finds."""
    kept = _ONE_WORD.sub(r'<span class="one-word">\g<0></span>', conditional_escape(text))
    return SafeString(kept)  # nosec B703  # what came in is escaped
