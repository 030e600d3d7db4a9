"""The page of an app's audit: what was done to it, by whom, in words."""

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from developers.apps.models import AppAuditEntry
from developers.members.models import AppMember
from portal.shell import Tab, app_page, portal_page

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

_PAGE = 50
# By action; what is filled in by name comes from the entry's facts.
WORDS: dict[str, "StrOrPromise"] = {
    "app.made": _("Made the app “%(name)s”"),
    "app.renamed": _("Renamed the app from “%(before)s” to “%(name)s”"),
    "app.closed": _("Closed the app; tokens that ended with it: %(revoked_tokens)s"),
    "app.closed_with_owner": _(
        "Closed the app, since the account of its last owner ended; tokens that ended with it: %(revoked_tokens)s"
    ),
    "token.minted": _("Made the token “%(label)s” (%(prefix)s)"),
    "token.rotated": _("Rotated the token “%(label)s”: %(prefix)s takes the place of %(replaces)s"),
    "token.revoked": _("Revoked the token “%(label)s” (%(prefix)s)"),
    "token.leaked": _("Revoked the token “%(label)s” (%(prefix)s), which somebody found and reported"),
    "connector_key.registered": _("Registered the connector key %(key_id)s (%(fingerprint)s)"),
    "connector_key.removed": _("Removed the connector key %(key_id)s (%(fingerprint)s)"),
    "console.called": _("Called %(operation)s in the console"),
    "app.approved": _("Approved the application"),
    "app.changed": _("Changed the app: %(fields)s"),
    "app.suspended": _("Suspended the app: %(note)s"),
    "app.restored": _("Restored the app: %(note)s"),
    "domain.proved": _("The domain %(domain)s is proved"),
    "domain.lost": _("The proof of %(domain)s is gone"),
    "member.added": _("Added %(member_id)s as %(role)s"),
    "member.role_changed": _("Made %(member_id)s %(role)s"),
    "member.removed": _("Removed %(member_id)s from the team"),
    "member.left": _("Left the team"),
    "member.agreed_to_tests": _("Agreed to be asked by the test app"),
    "member.ended_tests": _("No longer wants to be asked by the test app"),
    "invitation.made": _("Invited %(address)s as %(role)s"),
    "invitation.sent_again": _("Sent the invitation of %(address)s again"),
    "invitation.withdrawn": _("Withdrew the invitation of %(address)s"),
    "invitation.accepted": _("Accepted an invitation, as %(role)s"),
    "webhook.added": _("Added the endpoint %(url)s"),
    "webhook.changed": _("Changed the endpoint %(endpoint)s"),
    "webhook.deleted": _("Deleted the endpoint %(url)s"),
    "webhook.secret_renewed": _("Renewed the secret of the endpoint %(endpoint)s"),
    "webhook.disabled": _("Disabled the endpoint %(endpoint)s: %(reason)s"),
    "webhook.enabled": _("Enabled the endpoint %(endpoint)s"),
    "destination.added": _("Added the destination %(name)s at %(url)s"),
    "destination.enabled": _("Enabled the destination %(name)s"),
    "destination.disabled": _("Disabled the destination %(name)s"),
    "destination.secret_renewed": _("Renewed the secret of the destination %(name)s"),
    "destination.removed": _("Removed the destination %(name)s"),
}


@require_safe
@app_page(Tab(_("Audit"), "history"))
def audit(request: HttpRequest, member: AppMember) -> HttpResponse:
    """What was done to the app, the newest first."""
    entries = AppAuditEntry.objects.filter(app=member.app).select_related("member").order_by("-id")
    page = Paginator(entries, _PAGE).get_page(request.GET.get("page", "1")[:9])
    members = set(AppMember.objects.filter(app=member.app).values_list("user", flat=True))
    rows = [(entry, in_words(entry), _who(entry, members)) for entry in page]
    return portal_page(request, "portal/audit.html", {"rows": rows, "page_obj": page}, member=member)


def in_words(entry: AppAuditEntry) -> str:
    """What was done; the action itself and its facts where there are no words for it."""
    words = WORDS.get(entry.action)
    if words is None:
        facts = ", ".join(f"{name}: {value}" for name, value in entry.facts.items())
        return f"{entry.action} ({facts})" if facts else entry.action
    facts_or_dash: defaultdict[str, Any] = defaultdict(lambda: "-", entry.facts)
    return str(words) % facts_or_dash


def _who(entry: AppAuditEntry, members: set[int]) -> str:
    """Members see each other's addresses, and of staff no more than that it was staff."""
    if entry.member is None:
        return gettext("This service")
    if entry.member.is_staff and entry.member.pk not in members:
        return gettext("Staff")
    return str(entry.member.email)
