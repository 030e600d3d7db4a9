"""What all templates have without loading it (settings): the hidden fields of every form, and the head of a table."""

from django import template
from django.template import Context
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from accounts.interrupted.page_forms import PAGE_FIELD, page_field

register = template.Library()


@register.simple_tag(takes_context=True, name="csrf_token")
def form_fields(context: Context, *, of: object = "") -> SafeString | str:
    """In place of Django's own: the token, and whose page this is, so that the form can wait for that person alone.

    `of` is what its button is about: the name of an app, say. It stands beside the label while the form waits.
    """
    token = context.get("csrf_token")
    if not token or token == "NOTPROVIDED":  # noqa: S105  # Django's word for a page without a request
        return ""
    fields = format_html('<input type="hidden" name="csrfmiddlewaretoken" value="{}">', token)
    request = getattr(context, "request", None) or context.get("request")
    page = page_field(request, str(of or "")) if request is not None else ""
    return fields + format_html('<input type="hidden" name="{}" value="{}">', PAGE_FIELD, page) if page else fields


@register.simple_tag
def columns(*labels: str, buttons: str = "") -> SafeString:
    """The head of a table with these columns; that of the buttons, the last one, shows no label."""
    cells = format_html_join("", '<th scope="col">{}</th>', ((label,) for label in labels))
    last = format_html('<th scope="col"><span class="visually-hidden">{}</span></th>', buttons) if buttons else ""
    return format_html("<thead><tr>{}{}</tr></thead>", cells, last)
