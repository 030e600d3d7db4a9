"""The try-it console of a test app: real calls of the API, made by the server for a member of the team.

A developer token must not travel through a browser (contract 1.1). So the page sends what to call, under its session
and with its form's token, and the server makes the call itself, with a token that nobody sees and that ends with it.
"""

import json
import re
from itertools import groupby
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.interrupted.page_forms import page_form
from common.json_bodies import strict_json
from common.problems import Problem
from consent.grants.models import Grant
from consent.ledger.models import Receipt
from consent.requests.models import ConsentRequest
from consent.sandbox import queries as sandbox_queries
from developers.apps.models import App, AppMode, AppStatus
from developers.members.models import AppMember
from developers.tokens.actions import token_for_one_call
from pkm.registry.queries import less_than
from portal.console_calls import Operation, Parameter, call_of, make_call, operations, parameter_fields
from portal.shell import Tab, app_page, portal_page

LONGEST_VALUE = 300
LONGEST_BODY = 131_072  # characters: twice what the API takes, whose own refusal says more
_HEADER_VALUE = re.compile(r"[ -~]*\Z")


class CallForm(forms.Form):
    """The parameters of `operation` and its body, as text: whether they fit, the API itself says."""

    def __init__(self, *args: Any, operation: Operation, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.operation = operation
        for parameter in operation.parameters:
            self.fields[parameter.field] = _field(parameter)
        if operation.example is not None:
            area = forms.Textarea({"class": "textarea code-area", "rows": 14, "spellcheck": "false"})
            self.fields["body"] = forms.CharField(
                label=_("Body, as JSON"), required=operation.body_required, max_length=LONGEST_BODY, strip=False,
                widget=area,
            )  # fmt: skip

    @property
    def shown_first(self) -> list[Any]:
        shown = [one for one in self.operation.parameters if one.place != "header"]
        return [self[one.field] for one in sorted(shown, key=lambda one: not one.required)]

    @property
    def headers(self) -> list[Any]:
        return [self[one.field] for one in self.operation.parameters if one.place == "header"]

    @property
    def body_field(self) -> Any:
        """The field of the body; None where the operation takes none."""
        return self["body"] if "body" in self.fields else None

    @property
    def names_example_key(self) -> bool:
        """Whether the body holds a key to seal to, of which the document's example has one."""
        return "connector_public_key" in (self.operation.example or {})

    @property
    def purpose(self) -> str | None:
        """What the person would read that it is for; None where the body is no request's."""
        purpose = self._request.get("purpose")
        return purpose if isinstance(purpose, str) else None

    @property
    def less(self) -> list[str]:
        """What may do in place of the values that the request asks for and takes no answer in place of."""
        request, accepted = self._request, self._request.get("accepts")
        accepted = accepted if isinstance(accepted, dict) else {}
        lists = [request.get(name) or [] for name in ("required_attributes", "optional_attributes")]
        if not isinstance(request.get("scope"), str) or not all(isinstance(one, list) for one in lists):
            return []
        named = [path for one in lists for path in one if isinstance(path, str)]
        scope = request["scope"]
        raw = [path for path in named if path not in accepted]
        return less_than(scope, raw) if raw or not (named or accepted) else []

    @cached_property
    def _request(self) -> dict[str, Any]:
        """The body; empty where it is no request's."""
        if "purpose" not in (self.operation.example or {}):
            return {}
        try:
            body = strict_json((self["body"].value() or "").encode())
        except Problem:
            return {}
        return body if isinstance(body, dict) else {}

    @property
    def has_headers_given(self) -> bool:
        return any(field.value() or field.errors for field in self.headers)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        for parameter in self.operation.parameters:
            if parameter.place == "header" and not _HEADER_VALUE.match(cleaned.get(parameter.field, "")):
                self.add_error(parameter.field, gettext("A header holds plain letters, digits and signs alone."))
        return cleaned

    @property
    def values(self) -> dict[str, str]:
        """What was typed, by the parameters' own names; empty ones are left out."""
        typed = {one.name: self.cleaned_data[one.field] for one in self.operation.parameters}
        return {name: value for name, value in typed.items() if value}

    @property
    def body(self) -> str | None:
        """The body with plain line ends; None where the operation takes none, or nothing was typed."""
        typed: str = self.cleaned_data.get("body", "").replace("\r\n", "\n")
        return typed if typed.strip() else None


def _field(parameter: Parameter) -> forms.Field:
    common: dict[str, Any] = {
        "label": parameter.name, "required": parameter.required, "help_text": _help(parameter),
    }  # fmt: skip
    if parameter.choices:
        choices = [("", _("Not given")), *((choice, choice) for choice in parameter.choices)]
        return forms.ChoiceField(choices=choices, widget=forms.Select({"class": "select"}), **common)
    widget = forms.TextInput({"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false"})
    return forms.CharField(max_length=LONGEST_VALUE, widget=widget, **common)


def _help(parameter: Parameter) -> str:
    """The document's own words, which are English, with its example."""
    words = format_html(
        '<span lang="en">{}</span>', render_to_string("docs/text.html", {"text": parameter.description})
    )
    if not parameter.example:
        return words
    return format_html("{} {} <code>{}</code>", words, gettext("Example:"), parameter.example)


def filled_form(operation: Operation, app: App) -> CallForm:
    """The form as it is first seen: the document's example, with what this app has in place of made-up names."""
    own = own_names(app)
    initial: dict[str, Any] = {
        parameter.field: own.get(parameter.name, "")
        for parameter in operation.parameters
        if parameter.required or parameter.name == "request_id"
    }
    if operation.example is not None:
        members = {name: own.get(name, value) for name, value in operation.example.items()}
        initial["body"] = json.dumps(members, indent=2, ensure_ascii=False)
    return CallForm(initial=initial, operation=operation)


def own_names(app: App) -> dict[str, str]:
    """The app's newest sandbox person, request, grant and receipt, as far as there are any."""
    people = sandbox_queries.people_of_app(app_pk=app.pk)[:1]
    newest = {
        "user_id": people[0]["user_id"] if people else None,
        "request_id": _newest(ConsentRequest.objects.filter(app=app, withheld=False), "request_id"),
        "grant_id": _newest(Grant.objects.filter(app=app, request__withheld=False), "grant_id"),
        "receipt_id": _newest(Receipt.objects.filter(request__app=app, request__withheld=False), "receipt_id"),
    }
    return {name: value for name, value in newest.items() if value}


def _newest(rows: QuerySet[Any], name: str) -> str | None:
    found: str | None = rows.order_by("-pk").values_list(name, flat=True).first()
    return found


@page_form(_("Call it"), "operation", parameter_fields, "body")
@app_page(Tab(_("Try it"), "play", AppMode.TEST))
def console(request: HttpRequest, member: AppMember) -> HttpResponse:
    """Call the API as this test app, and see what it answers."""
    is_call = request.method == "POST"
    if not member.app.is_test or member.app.status == AppStatus.CLOSED:
        return portal_page(request, "portal/console.html", {}, member=member, status=403 if is_call else 200)
    name = (request.POST if is_call else request.GET).get("operation", "")
    operation = operations().get(name)
    if operation is None:
        first = next(iter(operations().values()))
        return _page(request, member, filled_form(first, member.app), unknown=name, status=400 if name else 200)
    if not is_call:
        return _page(request, member, filled_form(operation, member.app))
    form = CallForm(request.POST, operation=operation)
    return _called(request, member, form) if form.is_valid() else _page(request, member, form)


def _called(request: HttpRequest, member: AppMember, form: CallForm) -> HttpResponse:
    call = call_of(form.operation, form.values, form.body)
    try:
        with token_for_one_call(app=member.app, operation=form.operation.name, by=member.user) as token:
            answer = make_call(request, call, token)
    except Problem as problem:  # closed by somebody else a moment ago
        form.add_error(None, problem.detail)
        return _page(request, member, form)
    return _page(request, member, form, answer=answer, call=call)


def _page(request: HttpRequest, member: AppMember, form: CallForm, *, status: int = 0, **more: Any) -> HttpResponse:
    context = {"form": form, "operation": form.operation, "groups": _groups(), **more}
    return portal_page(request, "portal/console.html", context, member=member, status=status)


def _groups() -> list[tuple[str, list[Operation]]]:
    """The operations under the headings of the document."""
    by_group = sorted(operations().values(), key=lambda operation: operation.group)
    return [(group, list(found)) for group, found in groupby(by_group, key=lambda operation: operation.group)]
