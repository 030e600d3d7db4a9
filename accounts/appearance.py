"""The page of how this site looks and speaks to somebody."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.alerts.settings import settings_of
from accounts.authentication import person_of, signed_in_page


@signed_in_page
def settings_page(request: HttpRequest) -> HttpResponse:
    """Language and appearance, which change at once, and where the time zone of mail is chosen."""
    return render(request, "accounts/settings.html", {"zone": settings_of(person_of(request)).zone})
