"""The enrolment queue: all that decides on one page, and what staff may do about it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.apps import apps
from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html, format_html_join
from django.utils.text import capfirst
from django.utils.timezone import is_naive
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.staff import ReadOnly
from accounts.staff_lists import BoundedList
from common.problems import InvalidRequest, Problem
from common.text import StrOrPromise
from developers.applications import actions
from developers.applications.models import ApplicationStatus, DeveloperApplication
from developers.apps.domains import domain_of

_NOTHING = "-"  # as the admin writes it elsewhere
_TIERS = ("standard", "confidential", "restricted")  # pkm's, the gravest last


@dataclass(frozen=True)
class Decision:
    """One of the buttons: its name, what it says, what follows, and whether the applicant must be told why."""

    name: str
    label: StrOrPromise
    follows: StrOrPromise
    needs_note: bool = False


DECISIONS = (
    Decision(
        "approve_verified",
        _("Approve: the legal name was checked"),
        _("The live app is made, with the applicant as its owner. People see it as verified."),
    ),
    Decision(
        "approve",
        _("Approve without checking the legal name"),
        _("The live app is made, with the applicant as its owner. People see that nobody verified it."),
    ),
    Decision(
        "send_back",
        _("Send back"),
        _("The applicant reads your note, corrects the application and can hand it in again."),
        needs_note=True,
    ),
    Decision(
        "reject",
        _("Reject"),
        _("The application is closed for good. The applicant reads your note and would have to apply anew."),
        needs_note=True,
    ),
)


class Queue(BoundedList):
    """A page of the list: what its applications ask for is looked up once for all of them."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows = list(self.result_list)
        known = _entries(sorted({scope for row in rows for scope in row.needed_scopes}))
        for row in rows:
            row.known_scopes = known
        self.result_list = rows  # templates go through it, and nothing else


@admin.register(DeveloperApplication)
class ApplicationAdmin(ReadOnly):
    """The enrolment queue. An application is decided on its own page, by whoever has read it."""

    list_display = ("name", "legal_name", "domain", "asks_for", "applicant", "status", "handed_in")
    list_filter = ("status",)
    list_select_related = ("applicant",)
    search_fields = ("name", "legal_name", "^applicant__email")
    ordering = ("-created_at",)
    save_on_top = True  # the decisions stand above what decides, and below it
    change_form_template = "admin/developers/developerapplication/change_form.html"
    fieldsets = (
        (
            None,
            {"fields": ("status", "applicant", "created_at", "other_applications", "note", "reviewer", "reviewed_at")},
        ),
        (
            _("Who stands behind it"),
            {"fields": ("logo", "name", "legal_name", "website", "domain", "privacy_policy", "contact_email")},
        ),
        (_("What it asks for, and why"), {"fields": ("use_case", "scopes")}),
        (_("What happens to the data"), {"fields": ("jurisdiction", "recipients", "storage_place", "retention")}),
        (_("Where it runs in a browser"), {"fields": ("origin_lines", "return_lines")}),
    )
    readonly_fields = ("logo", "domain", "scopes", "origin_lines", "return_lines", "other_applications")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return Queue

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("developers.change_developerapplication")

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The page of one application, or with `?decide=` the one that asks for a note and decides."""
        chosen = next((one for one in DECISIONS if one.name == request.GET.get("decide")), None)
        application: Any = self.get_object(request, object_id)
        if chosen is not None and application is not None:
            return self._decision_page(request, application, chosen)
        is_open = application is not None and application.status == ApplicationStatus.SUBMITTED
        offered = DECISIONS if is_open and self.has_decide_permission(request) else ()
        seen = application.updated_at.isoformat() if application is not None else ""
        return super().change_view(
            request, object_id, form_url, {**(extra_context or {}), "decisions": offered, "seen": seen}
        )

    def _decision_page(
        self, request: HttpRequest, application: DeveloperApplication, decision: Decision
    ) -> HttpResponse:
        """What follows, and a note; deciding is a POST of this page, and an error loses nothing."""
        if not self.has_decide_permission(request):
            raise PermissionDenied
        note, wrong = request.POST.get("note", ""), ""
        if request.method == "POST":
            try:
                _decide(application, decision, request, note)
            except Problem as problem:
                wrong = problem.detail
            else:
                self.log_change(request, application, f"{decision.name}: {note.strip()}"[:500])
                self.message_user(request, gettext("%s was decided.") % application.name, messages.SUCCESS)
                return redirect(
                    f"{reverse('admin:developers_developerapplication_changelist')}?status__exact=submitted"
                )
        context = {
            **self.admin_site.each_context(request),
            "title": decision.label,
            "application": application,
            "decision": decision,
            "note": note,
            "wrong": wrong,
            "opts": self.opts,
        }
        template = "admin/developers/developerapplication/decide.html"
        return TemplateResponse(request, template, context, status=400 if wrong else 200)

    @admin.display(description=_("handed in"), ordering="created_at")
    def handed_in(self, row: DeveloperApplication) -> str:
        """For the first time: how long ago."""
        return str(naturaltime(row.created_at))

    @admin.display(description=_("domain"))
    def domain(self, row: DeveloperApplication) -> str:
        if row.proved_domain:
            return gettext("%s, proved") % row.proved_domain
        return gettext("%s, not proved") % domain_of(row.website)

    @admin.display(description=_("asks for"))
    def asks_for(self, row: DeveloperApplication) -> str:
        """How many kinds of data, and how sensitive the gravest is."""
        count = ngettext("%(n)d kind of data", "%(n)d kinds of data", len(row.needed_scopes))
        words = count % {"n": len(row.needed_scopes)}
        known = getattr(row, "known_scopes", {})
        tiers = {known[scope][1]: known[scope][2] for scope in row.needed_scopes if scope in known}
        return f"{words}, {tiers[max(tiers, key=_TIERS.index)]}" if tiers else words

    @admin.display(description=_("kinds of data"))
    def scopes(self, row: DeveloperApplication) -> str:
        """Each in words, with how sensitive it is and why it is asked for, or that the registry lost it."""
        known = _entries(row.needed_scopes)
        lines = [
            (*_words(known.get(scope)), scope, row.scope_reasons.get(scope) or capfirst(gettext("no reason was given")))
            for scope in row.needed_scopes
        ]
        shown = "<tr><th scope=row>{}<br><code>{}</code></th><td>{}</td><td>{}</td></tr>"
        body = format_html_join("", shown, ((label, scope, tier, why) for label, tier, scope, why in lines))
        heads = (gettext("Kind of data"), gettext("Sensitivity"), gettext("Why"))
        head = format_html("<tr><th scope=col>{}</th><th scope=col>{}</th><th scope=col>{}</th></tr>", *heads)
        return format_html("<table><thead>{}</thead><tbody>{}</tbody></table>", head, body) if lines else _NOTHING

    @admin.display(description=_("logo"))
    def logo(self, row: DeveloperApplication) -> str:
        if not row.logo_digest:
            return _NOTHING
        address = reverse("portal:logo", args=[row.logo_digest])
        return format_html('<img src="{}" alt="{}" width="64" height="64">', address, gettext("Logo"))

    @admin.display(description=_("browser origins"))
    def origin_lines(self, row: DeveloperApplication) -> str:
        return format_html_join("", "{}<br>", ((line,) for line in row.origins)) or _NOTHING

    @admin.display(description=_("return addresses"))
    def return_lines(self, row: DeveloperApplication) -> str:
        return format_html_join("", "{}<br>", ((line,) for line in row.return_addresses)) or _NOTHING

    @admin.display(description=_("other applications of this person"))
    def other_applications(self, row: DeveloperApplication) -> str:
        others = DeveloperApplication.objects.filter(applicant=row.applicant).exclude(pk=row.pk).order_by("-pk")[:20]
        return ", ".join(f"{one.name} ({one.get_status_display()})" for one in others) or _NOTHING


def _decide(application: DeveloperApplication, decision: Decision, request: HttpRequest, note: str) -> None:
    """Only what was seen is decided: `seen` came from the page that was read."""
    by: Any = request.user
    seen = _seen(request)
    if decision.name == "send_back":
        actions.send_back_application(application=application, by=by, note=note, seen=seen)
    elif decision.name == "reject":
        actions.reject_application(application=application, by=by, note=note, seen=seen)
    else:
        verified = decision.name == "approve_verified"
        actions.approve_application(application=application, by=by, note=note, verified=verified, seen=seen)


def _seen(request: HttpRequest) -> datetime:
    """When the application that was read had last changed; a link without that shows nothing that could be decided."""
    try:
        seen = parse_datetime(request.GET.get("seen", "").replace(" ", "+"))
    except ValueError:
        seen = None
    if seen is None or is_naive(seen):
        raise InvalidRequest(gettext("This application is not as you saw it any more: look at it again."))
    return seen


def _entries(scopes: list[str]) -> dict[str, tuple[str, str, str]]:
    """Scope → its label, its tier and the tier's name: of the registry, which is another room's."""
    rows = apps.get_model("pkm", "ScopeEntry")._default_manager.filter(scope__in=scopes)
    return {
        row.scope: (gettext(row.scope_label), row.sensitivity_tier, row.get_sensitivity_tier_display()) for row in rows
    }


def _words(entry: tuple[str, str, str] | None) -> tuple[str, str]:
    return (entry[0], entry[2]) if entry else (capfirst(gettext("not in the registry")), _NOTHING)
