"""The staff's site: who gets in, under which policy, and what waits for them."""

from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.admin import AdminSite
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _

from accounts.sign_in.second_factors import seconds_since_second_factor
from config.dashboard import waiting
from config.staff_confirmation import redirect_to_second_factor, require_second_factor
from consent.release.manifest import STAFF_POLICY

# Whose records staff meet. Other packages register theirs too: second factors and addresses are nobody's.
ROOMS = {"accounts", "pkm", "developers", "consent", "agents_proxy", "auth"}


class StaffSite(AdminSite):
    """Django's admin behind the one sign-in that there is, with a second factor and that sign-in's rate limits."""

    site_header = site_title = settings.SITE_NAME
    index_title = _("Staff")
    site_url = "/"

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Take the records of our own rooms; what another package brings is left out without a word."""
        models: Any = [model_or_iterable] if isinstance(model_or_iterable, type) else model_or_iterable
        for model in models:
            if model._meta.app_label in ROOMS:
                super().register(model, admin_class, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        """Staff whose session showed a second factor. A password alone opens nothing here."""
        return super().has_permission(request) and seconds_since_second_factor(request) is not None

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """The sign-in of everybody else, and the second factor; who is not staff has no business here."""
        wanted = request.GET.get("next", request.POST.get("next", "/admin/"))
        wanted = wanted if wanted.startswith("/admin/") else "/admin/"
        if not request.user.is_authenticated:
            return redirect_to_login(wanted)
        if not super().has_permission(request):
            raise PermissionDenied
        if not self.has_permission(request):
            return redirect_to_second_factor(request, wanted)
        return redirect("admin:index")

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Passwords are changed where everybody changes theirs."""
        return HttpResponseRedirect("/accounts/password/change/")

    def password_change_done(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return self.password_change(request)

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Sign out where everybody does, which also ends the session's own record."""
        return HttpResponseRedirect("/accounts/logout/")

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return super().index(request, {**(extra_context or {}), "waiting": waiting(request)})

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        guarded = super().admin_view(require_second_factor(self, view), cacheable)

        @wraps(guarded)
        def under_policy(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            response: HttpResponse = guarded(request, *args, **kwargs)
            response._csp_replace = STAFF_POLICY  # type: ignore[attr-defined]  # read by csp's middleware
            return response

        return under_policy
