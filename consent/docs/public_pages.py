"""What everybody may read about this site: help, and who runs it under which words, which the operator writes."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from common.text import StrOrPromise

if TYPE_CHECKING:
    from consent.docs.markdown import Written

TITLES: dict[str, StrOrPromise] = {
    "about": _("About this site"),
    "privacy": _("Privacy notice"),
    "terms": _("Terms of use"),
    "contact": _("Contact"),
}


@csrf_exempt  # so that another method is 405 and not a missing token: nothing is taken here
@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    return render(request, "docs/help.html")


@csrf_exempt  # so that another method is 405 and not a missing token: nothing is taken here
@require_safe
def operators_page(request: HttpRequest, name: str) -> HttpResponse:
    """The operator's own words, or that there are none; `name` is one of `TITLES`."""
    title = TITLES[name]
    written, language = _written(name, str(title))
    context = {"name": name, "title": (written and written.title) or title, "written": written, "language": language}
    return render(request, "docs/operators_page.html", context)


def _written(name: str, title: str) -> "tuple[Written | None, str]":
    """The file of this page in the reader's language, else the one without a language, and what it is written in.

    Read anew each time, so that a changed file shows at once: it is small, and few ask for it.
    """
    reader = (get_language() or settings.LANGUAGE_CODE).partition("-")[0]
    for file, language in ((f"{name}.{reader}.md", reader), (f"{name}.md", settings.LANGUAGE_CODE)):
        path = settings.SITE_PAGES / file if settings.SITE_PAGES else None
        text = path.read_text("utf-8", errors="replace").strip() if path and path.is_file() else ""
        if text:
            from consent.docs.markdown import write  # the first reader of a document brings the parser

            return write(text if text.startswith("# ") else f"# {title}\n\n{text}", {}), language
    return None, reader
