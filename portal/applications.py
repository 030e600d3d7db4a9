"""Applying for a live app, and what became of it; logos, for everybody."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from accounts.authentication import person_of
from accounts.interrupted.page_forms import page_button, page_form
from common.problems import Problem
from developers.applications import actions as application_actions
from developers.applications.models import ApplicationStatus, DeveloperApplication
from developers.applications.queries import OPEN, applications_of
from developers.apps.domains import FILE, RECORD, domain_of
from developers.apps.models import Logo
from pkm.registry.labels import label_of_scope
from pkm.registry.queries import less_than
from portal.application_form import SCOPE_FIELDS, ApplicationForm
from portal.domain import check_shown
from portal.shell import Refusals, portal_page, posted


@page_form(_("Hand it in"), ApplicationForm, *SCOPE_FIELDS)
def apply(request: HttpRequest) -> HttpResponse:
    """The empty form, and what is wrong with one that was handed in."""
    by = person_of(request)
    form = ApplicationForm(posted(request), request.FILES or None, by=by, initial={"contact_email": by.email})
    if form.is_valid():
        with Refusals(form):
            made = application_actions.hand_in_application(facts=form.facts(), by=by)
            messages.success(request, gettext("Handed in. We write to you once our staff have decided."))
            return redirect("portal:application", made.pk)
    return portal_page(request, "portal/apply.html", {"form": form})


@page_form(_("Hand it in again"), ApplicationForm, *SCOPE_FIELDS)
def application(request: HttpRequest, pk: int) -> HttpResponse:
    """An application and its status; one that was sent back can be corrected here."""
    row = _own(request, pk)
    if request.method != "POST":
        return _application_page(request, row, ApplicationForm.of(row) if row.status == "sent_back" else None)
    form = ApplicationForm(request.POST, request.FILES, by=person_of(request), logo_digest=row.logo_digest)
    if form.is_valid():
        with Refusals(form):
            application_actions.hand_in_again(application_pk=row.pk, facts=form.facts(), by=person_of(request))
            messages.success(request, gettext("Handed in again. We write to you once our staff have decided."))
            return redirect("portal:application", row.pk)
    return _application_page(request, row, form)


@page_button(_("Withdraw it"), danger=True)
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    row = _own(request, pk)
    try:
        application_actions.withdraw_application(application_pk=row.pk, by=person_of(request))
    except Problem as problem:
        messages.error(request, problem.detail)
    else:
        messages.success(request, gettext("Withdrawn. You can apply again at any time."))
    return redirect("portal:application", row.pk)


@page_button(_("Check now"))
def check_domain(request: HttpRequest, pk: int) -> HttpResponse:
    """Look for the proof of the website's domain now."""
    row = _own(request, pk)
    if row.status in OPEN:
        check_shown(
            request, lambda: application_actions.check_application_domain(application=row), domain_of(row.website)
        )
    return redirect("portal:application", row.pk)


def _own(request: HttpRequest, pk: int) -> DeveloperApplication:
    found = applications_of(person_of(request)).filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def _application_page(request: HttpRequest, row: DeveloperApplication, form: ApplicationForm | None) -> HttpResponse:
    context: dict[str, Any] = {
        "application": row,
        "form": form,
        "made": getattr(row, "app", None),
        "is_open": row.status in OPEN,
        "scopes": [(label_of_scope(scope), why, less_than(scope)) for scope, why in row.scope_reasons.items()],
        "is_answered": row.status in (ApplicationStatus.SENT_BACK, ApplicationStatus.REJECTED, "approved"),
        "proof": row,
        "domain": domain_of(row.website),
        "record": RECORD,
        "file": FILE,
    }
    return portal_page(request, "portal/application.html", context)


@require_safe
def logo(request: HttpRequest, digest: str) -> HttpResponse:
    """A picture under its own SHA-256, so that it can be cached for ever."""
    png = Logo.objects.filter(digest=digest).values_list("png", flat=True).first()
    if png is None:
        raise Http404
    response = HttpResponse(bytes(png), content_type="image/png")
    response["Cache-Control"] = "public, max-age=31536000, immutable"
    response["X-Content-Type-Options"] = "nosniff"
    return response
