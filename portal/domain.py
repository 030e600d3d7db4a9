"""The page on which an app's domain is proved, and what pages with "Check now" share."""

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_forms import page_form
from common import limits
from common.limits import Limit
from developers.apps.domain_proof import check_app_domain
from developers.apps.domains import FILE, RECORD, Finding, domain_of
from developers.apps.models import AppMode
from developers.members.models import AppMember
from portal.shell import Tab, app_page, portal_page

_CHECKS = Limit("domain-checks", 20, 3600)


def check_shown(request: HttpRequest, check: Callable[[], Finding], domain: str) -> None:
    """Look for the proof once more, so many times an hour, and say what was found."""
    if limits.count(_CHECKS, person_of(request).public_id).exceeded:
        messages.error(request, gettext("That was often enough for now. Try again in an hour."))
        return
    finding = check()
    if finding.proves:
        messages.success(request, gettext("%(domain)s is proved.") % {"domain": domain})
        return
    words = gettext("No proof was found for %(domain)s. A new DNS record may take a while to be seen.")
    if "other" in (finding.dns, finding.file):
        words = gettext("Something else stands where the proof of %(domain)s is looked for. Compare it with the value.")
    messages.warning(request, words % {"domain": domain})


@page_form(_("Check now"))
@app_page(Tab(_("Domain"), "globe", AppMode.LIVE))
def domain(request: HttpRequest, member: AppMember) -> HttpResponse:
    """What to publish where, and a look for it now. A test app has no website to prove."""
    app = member.app
    if app.is_test:
        raise Http404
    named = domain_of(app.website)
    if request.method == "POST":
        check_shown(request, lambda: check_app_domain(app=app, by=person_of(request)), named)
        return redirect("portal:domain", app.app_id)
    context = {"proof": app, "domain": named, "record": RECORD, "file": FILE}
    return portal_page(request, "portal/domain.html", context, member=member)
