"""Actions of the staff's lists that take a note: the first post asks for it, the second has it."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.template.response import TemplateResponse

from common.text import StrOrPromise, is_plain

LONGEST_NOTE = 500


def note_of(request: HttpRequest) -> str | None:
    """The note that was sent along; None where there is none yet, or one that does not fit."""
    note = request.POST.get("note", "").strip()
    return note if is_plain(note) and len(note) <= LONGEST_NOTE else None


def note_page(
    page: "admin.ModelAdmin[Any]",
    request: HttpRequest,
    rows: Sequence[Any],
    *,
    action: str,
    title: StrOrPromise,
    explanation: StrOrPromise,
    button: StrOrPromise,
    danger: bool = False,
) -> TemplateResponse:
    """The page that names the chosen rows and asks why; it sends the same action again, with the note."""
    context = {
        **page.admin_site.each_context(request),
        "title": title,
        "explanation": explanation,
        "button": button,
        "danger": danger,
        "rows": rows,
        "action": action,
        "sent": request.POST.get("note", ""),
        "refused": "note" in request.POST,
        "longest": LONGEST_NOTE,
        "opts": page.opts,
        "media": page.media,
    }
    return TemplateResponse(request, "admin/note.html", context)
