"""Pages of the developer portal that tell of requests and grants."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from consent.portal.standings import standings
from developers.members.models import AppMember
from developers.portal.shell import app_page, portal_page


@require_safe
@app_page()
def limits(request: HttpRequest, member: AppMember) -> HttpResponse:
    """Each limit of the app, and what is left of it."""
    context = {"standings": standings(member.app), "body_limit": settings.BODY_LIMIT}
    return portal_page(request, "developers/limits.html", context, member=member)
