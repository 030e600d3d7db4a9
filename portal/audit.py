"""The page of an app's audit: what was done to it, by whom, in words."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from developers.apps.audit import in_words
from developers.apps.models import AppAuditEntry
from developers.members.models import AppMember
from portal.shell import Tab, app_page, portal_page

_PAGE = 50


@require_safe
@app_page(Tab(_("Audit"), "history"))
def audit(request: HttpRequest, member: AppMember) -> HttpResponse:
    """What was done to the app, the newest first."""
    entries = AppAuditEntry.objects.filter(app=member.app).select_related("member").order_by("-id")
    page = Paginator(entries, _PAGE).get_page(request.GET.get("page", "1")[:9])
    members = set(AppMember.objects.filter(app=member.app).values_list("user", flat=True))
    rows = [(entry, in_words(entry), _who(entry, members)) for entry in page]
    return portal_page(request, "portal/audit.html", {"rows": rows, "page_obj": page}, member=member)


def _who(entry: AppAuditEntry, members: set[int]) -> str:
    """Members see each other's addresses, and of staff no more than that it was staff."""
    if entry.member is None:
        return gettext("This service")
    if entry.member.is_staff and entry.member.pk not in members:
        return gettext("Staff")
    return str(entry.member.email)
