"""The page on which an app's domain is proved."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from accounts.authentication import person_of
from accounts.interrupted.page_forms import page_form
from developers.apps.domain_checks import may_check, tell
from developers.apps.domain_proof import check_app_domain
from developers.apps.domains import FILE, RECORD, domain_of
from developers.members.models import AppMember
from developers.portal.shell import app_page, portal_page


@page_form(_("Check now"))
@require_http_methods(["GET", "HEAD", "POST"])
@app_page()
def domain(request: HttpRequest, member: AppMember) -> HttpResponse:
    """What to publish where, and a look for it now. A test app has no website to prove."""
    app = member.app
    if app.is_test:
        raise Http404
    named = domain_of(app.website)
    if request.method == "POST":
        if may_check(request):
            tell(request, check_app_domain(app=app, by=person_of(request)), named)
        return redirect("developers:domain", app.app_id)
    context = {"proof": app, "domain": named, "record": RECORD, "file": FILE}
    return portal_page(request, "developers/domain.html", context, member=member)
