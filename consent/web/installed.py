"""What makes the app one that can be installed: its manifest, its service worker, and the page without a connection.

None of the three is about anybody; what a browser keeps of them holds nothing of a person.
"""

from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from accounts.templatetags.marks import site_logo

_WORKER = "js/service_worker.js"
_SOURCE = Path(__file__).resolve().parents[2] / "static" / _WORKER


@require_safe
def manifest(request: HttpRequest) -> HttpResponse:
    """The web app manifest, in the language of the page that links to it."""
    icons = [
        {"src": site_logo(f"img/icon-{size}.png"), "sizes": "any" if settings.SITE_LOGO else f"{size}x{size}"}
        for size in (192, 512)
    ]
    body = {
        "id": "/",
        "name": settings.SITE_NAME,
        "short_name": settings.SITE_NAME.partition(" ")[0],
        "lang": get_language(),
        "start_url": reverse("consent:home"),
        "scope": "/",
        "display": "standalone",
        "background_color": "#ffffff",
        "theme_color": "#ffffff",
        "icons": [icon | {"purpose": purpose} for icon in icons for purpose in ("any", "maskable")],
    }
    return JsonResponse(body, content_type="application/manifest+json")


@require_safe
def service_worker(request: HttpRequest) -> HttpResponse:
    """At the root, so that it may serve every page; browsers look for a newer one by themselves."""
    return HttpResponse(_script(), content_type="text/javascript; charset=utf-8")


@cache
def _script() -> bytes:
    """The release's file, which a start compares with its manifest; without one, as in development, the source."""
    released = settings.STATIC_ROOT / _WORKER
    return (released if released.is_file() else _SOURCE).read_bytes()


@require_safe
def offline(request: HttpRequest) -> HttpResponse:
    """What the service worker shows where there is no connection: nobody's page, whoever asks for it."""
    return HttpResponse(render_to_string("offline.html"))
