"""The request log of an app, and what its page fetches while it is open."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from common.admission.cursors import cursor_of, position_of
from common.admission.exceptions import problem_answer
from common.json_bodies import answers_json, json_answer
from common.problems import FieldError, InvalidRequest
from developers.members.models import AppMember
from developers.request_log import queries
from developers.request_log.queries import Filters
from portal.shell import Tab, app_page, portal_page

_PAGE = 50
_STATUS = (
    ("", _("All answers")),
    ("failed", _("Refused or failed")),
    *((name, name) for name in queries.STATUS_CLASSES if name != "failed"),
)


class LogForm(forms.Form):
    """What is to be shown; nothing is needed."""

    status = forms.ChoiceField(label=_("Answer"), choices=_STATUS, required=False)
    route = forms.CharField(label=_("Path begins with"), max_length=120, required=False)
    code = forms.RegexField(r"^([a-z_]{1,48}|[45][0-9]{2})\Z", label=_("Code"), required=False)
    trace_id = forms.RegexField(r"^[A-Za-z0-9._-]{1,64}\Z", label=_("Request ID"), required=False)
    cursor = forms.CharField(max_length=64, required=False)

    def clean_cursor(self) -> int | None:
        """The row before which the page begins or, for `log_latest`, after which."""
        given = self.cleaned_data["cursor"]
        try:
            return position_of(given) if given else None
        except InvalidRequest as refused:
            raise forms.ValidationError(refused.detail) from None

    @property
    def filters(self) -> Filters:
        return Filters(**{name: self.cleaned_data.get(name, "") for name in ("status", "route", "code", "trace_id")})


@require_safe
@app_page(Tab(_("Request log"), "list"))
def log(request: HttpRequest, member: AppMember) -> HttpResponse:
    """The calls of the app, newest first."""
    form = LogForm(request.GET)
    fits = form.is_valid()
    filters, before = form.filters, form.cleaned_data.get("cursor")
    newest, (routes, codes) = queries.newest_of(member.app), queries.recent_names(member.app)
    calls, older = queries.page_of(member.app, filters, before=before, limit=_PAGE) if fits else ([], None)
    context = {
        "form": form,
        "calls": calls,
        "has_any": bool(newest),
        "filtered": bool(filters.given()),
        "routes": routes,
        "codes": codes,
        "older_url": _address(member, filters, cursor_of(older)) if older else "",
        "newest_url": _address(member, filters) if before else "",
        "latest": {} if before or not fits else _latest(member, filters, newest),
        "days": settings.REQUEST_LOG_DAYS,
    }
    return portal_page(request, "portal/log.html", context, member=member)


@answers_json
@require_safe
@app_page()
def log_latest(request: HttpRequest, member: AppMember) -> HttpResponse:
    """`{"items", "cursor"}`: the calls since the one of `cursor`, newest first, as JSON."""
    form = LogForm(request.GET)
    if not form.is_valid():
        errors: list[FieldError] = [
            {"field": name, "code": "invalid", "message": str(found[0])} for name, found in form.errors.items()
        ]
        return problem_answer(request, InvalidRequest("The query does not fit.", errors=errors))
    newest = queries.newest_of(member.app)
    after = form.cleaned_data["cursor"] or 0
    calls = queries.newer_than(member.app, form.filters, after=after, limit=_PAGE) if newest > after else []
    return json_answer({"items": [queries.log_row(call) for call in calls], "cursor": _cursor(max(newest, after))})


def _latest(member: AppMember, filters: Filters, newest: int) -> dict[str, Any]:
    """What the page's script goes on from."""
    url = reverse("portal:log-latest", args=[member.app.app_id])
    return {"url": url, "query": urlencode(filters.given()), "cursor": _cursor(newest)}


def _cursor(row: int) -> str:
    return cursor_of(row) if row else ""


def _address(member: AppMember, filters: Filters, cursor: str = "") -> str:
    query = urlencode({**filters.given(), **({"cursor": cursor} if cursor else {})})
    return reverse("portal:log", args=[member.app.app_id]) + (f"?{query}" if query else "")
