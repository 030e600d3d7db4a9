"""Applying for a live app, and what became of it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.authentication import person_of
from accounts.interrupted.page_forms import page_button, page_form
from common.problems import Problem
from consent.portal.application_forms import SCOPE_FIELDS, ApplicationForm
from developers.applications import actions as application_actions
from developers.applications.domain_proof import check_application_domain
from developers.applications.models import ApplicationStatus, DeveloperApplication
from developers.applications.queries import OPEN, applications_of
from developers.apps.domain_checks import may_check, tell
from developers.apps.domains import FILE, RECORD, domain_of
from developers.portal.shell import portal_page
from pkm.registry.labels import label_of_scope


@page_form(_("Hand it in"), ApplicationForm, *SCOPE_FIELDS)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def apply(request: HttpRequest) -> HttpResponse:
    """The empty form, and what is wrong with one that was handed in."""
    by = person_of(request)
    if request.method != "POST":
        return _form_page(request, ApplicationForm(by=by, initial={"contact_email": by.email}))
    form = ApplicationForm(request.POST, request.FILES, by=by)
    if form.is_valid():
        try:
            made = application_actions.hand_in_application(facts=form.facts(), by=by)
        except Problem as problem:
            form.add_error(None, problem.detail)
        else:
            messages.success(request, gettext("Handed in. We write to you once our staff have decided."))
            return redirect("portal:application", made.pk)
    return _form_page(request, form, status=400)


@page_form(_("Hand it in again"), ApplicationForm, *SCOPE_FIELDS)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def application(request: HttpRequest, pk: int) -> HttpResponse:
    """Where an application stands; one that was sent back can be corrected here."""
    row = _own(request, pk)
    if request.method != "POST":
        return _application_page(request, row, ApplicationForm.of(row) if row.status == "sent_back" else None)
    form = ApplicationForm(request.POST, request.FILES, by=person_of(request), logo_digest=row.logo_digest)
    if form.is_valid():
        try:
            application_actions.hand_in_again(application_pk=row.pk, facts=form.facts(), by=person_of(request))
        except Problem as problem:
            form.add_error(None, problem.detail)
        else:
            messages.success(request, gettext("Handed in again. We write to you once our staff have decided."))
            return redirect("portal:application", row.pk)
    return _application_page(request, row, form, status=400)


@page_button(_("Withdraw it"), danger=True)
@login_required
@require_POST
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
@login_required
@require_POST
def check_domain(request: HttpRequest, pk: int) -> HttpResponse:
    """Look for the proof of the website's domain now."""
    row = _own(request, pk)
    if row.status in OPEN and may_check(request):
        tell(request, check_application_domain(application=row), domain_of(row.website))
    return redirect("portal:application", row.pk)


def _own(request: HttpRequest, pk: int) -> DeveloperApplication:
    found = applications_of(person_of(request)).filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def _form_page(request: HttpRequest, form: ApplicationForm, *, status: int = 200) -> HttpResponse:
    return portal_page(request, "developers/apply.html", {"form": form}, status=status)


def _application_page(
    request: HttpRequest, row: DeveloperApplication, form: ApplicationForm | None, *, status: int = 200
) -> HttpResponse:
    context: dict[str, Any] = {
        "application": row,
        "form": form,
        "made": getattr(row, "app", None),
        "is_open": row.status in OPEN,
        "scopes": [(label_of_scope(scope), why) for scope, why in row.scope_reasons.items()],
        "is_answered": row.status in (ApplicationStatus.SENT_BACK, ApplicationStatus.REJECTED, "approved"),
        "proof": row,
        "domain": domain_of(row.website),
        "record": RECORD,
        "file": FILE,
    }
    return portal_page(request, "developers/application.html", context, status=status)
