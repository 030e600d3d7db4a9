"""The logos of apps, for everybody."""

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from developers.apps.models import Logo


@require_safe
def logo(request: HttpRequest, digest: str) -> HttpResponse:
    """A picture under its own SHA-256: whatever was fetched once stays true for ever."""
    png = Logo.objects.filter(digest=digest).values_list("png", flat=True).first()
    if png is None:
        raise Http404
    response = HttpResponse(bytes(png), content_type="image/png")
    response["Cache-Control"] = "public, max-age=31536000, immutable"
    response["X-Content-Type-Options"] = "nosniff"
    return response
