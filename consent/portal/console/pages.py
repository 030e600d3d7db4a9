"""The page of the console: an operation of the API, its form, and the answer."""

from itertools import groupby
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from accounts.interrupted.page_forms import page_form
from common.problems import Problem
from consent.portal.console.calls import call_of, make_call
from consent.portal.console.forms import CallForm, filled_form
from consent.portal.console.operations import Operation, operations, parameter_fields
from developers.apps.models import AppStatus
from developers.members.models import AppMember
from developers.portal.shell import app_page, portal_page
from developers.tokens.actions import token_for_one_call


@page_form(_("Call it"), "operation", parameter_fields, "body")
@require_http_methods(["GET", "HEAD", "POST"])
@app_page()
def console(request: HttpRequest, member: AppMember) -> HttpResponse:
    """Call the API as this test app, and see what it answers."""
    is_call = request.method == "POST"
    if not member.app.is_test or member.app.status == AppStatus.CLOSED:
        return portal_page(request, "developers/console.html", {}, member=member, status=403 if is_call else 200)
    asked = (request.POST if is_call else request.GET).get("operation", "")
    operation = operations().get(asked)
    if operation is None:
        first = next(iter(operations().values()))
        return _page(request, member, filled_form(first, member.app), unknown=asked, status=400 if asked else 200)
    if not is_call:
        return _page(request, member, filled_form(operation, member.app))
    form = CallForm(request.POST, operation=operation)
    return _called(request, member, form) if form.is_valid() else _page(request, member, form, status=400)


def _called(request: HttpRequest, member: AppMember, form: CallForm) -> HttpResponse:
    call = call_of(form.operation, form.values, form.body)
    try:
        with token_for_one_call(app=member.app, operation=form.operation.name, by=member.user) as token:
            answer = make_call(request, call, token)
    except Problem as problem:  # closed by somebody else a moment ago
        form.add_error(None, problem.detail)
        return _page(request, member, form, status=400)
    return _page(request, member, form, answer=answer, call=call)


def _page(request: HttpRequest, member: AppMember, form: CallForm, *, status: int = 200, **more: Any) -> HttpResponse:
    context = {"form": form, "operation": form.operation, "groups": _groups(), **more}
    return portal_page(request, "developers/console.html", context, member=member, status=status)


def _groups() -> list[tuple[str, list[Operation]]]:
    """The operations under the headings of the document."""
    by_group = sorted(operations().values(), key=lambda operation: operation.group)
    return [(group, list(found)) for group, found in groupby(by_group, key=lambda operation: operation.group)]
