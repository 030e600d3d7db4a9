"""The page of an app's audit: what was done to it, by whom, in words."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from developers.apps.audit import in_words
from developers.apps.models import RESTORED, SUSPENDED, App, AppAuditEntry
from developers.members.models import AppInvitation, AppMember
from developers.members.queries import team_of
from portal.shell import Tab, app_page, portal_page

_PAGE = 50
_OF_STAFF = {"app.approved", "app.changed", SUSPENDED, RESTORED}  # that nobody else does


@require_safe
@app_page(Tab(_("Audit"), "history"))
def audit(request: HttpRequest, member: AppMember) -> HttpResponse:
    """What was done to the app, the newest first."""
    entries = AppAuditEntry.objects.filter(app=member.app).select_related("member").order_by("-id")
    page = Paginator(entries, _PAGE).get_page(request.GET.get("page", "1")[:9])
    names = _joined_by_address(member.app) | {one.user_id: one.shown_as for one in team_of(member.app)}
    rows = [(entry, in_words(entry), _who(entry, names)) for entry in page]
    return portal_page(request, "portal/audit.html", {"rows": rows, "page_obj": page}, member=member)


def _joined_by_address(app: App) -> dict[int, str]:
    """The addresses that the team invited itself, by whom each let in, should they have left since."""
    joined = AppInvitation.objects.filter(app=app, accepted_by__isnull=False, person=None).order_by("pk")
    return dict(joined.values_list("accepted_by", "email"))


def _who(entry: AppAuditEntry, names: dict[int, str]) -> str:
    """Members as their team sees them; of staff no more than that it was staff, also once they are that no longer."""
    if entry.member is None:
        return gettext("This service")
    if entry.action in _OF_STAFF:
        return gettext("Staff")
    if entry.member.pk in names:
        return names[entry.member.pk]
    return gettext("Staff") if entry.member.is_staff else gettext("A former member")
