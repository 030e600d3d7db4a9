"""The page of phone numbers: add one, verify it by the code that comes to it, remove it."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_forms import page_button, page_form
from agents_proxy.messaging import phone_numbers
from agents_proxy.messaging.phone_numbers import UnknownNumber, WrongCode
from common.limits import headers
from common.problems import Problem

NUMBER_PROBLEMS = {
    "invalid_phone_number": _(
        "This is no phone number that is in use. Write it with its country, such as +49 151 23456789."
    ),
    "too_many_codes": _("Too many codes were asked for. Try again in an hour."),
    "number_opted_out": _("Whoever has this number asked for no more messages. Send START from it to get them again."),
    "messaging_unavailable": _("The code could not be sent. Try again later."),
    "wrong_code": _("This is not the code, or it is over. After ten minutes or five tries you need a new one."),
}

_CODE = {"inputmode": "numeric", "autocomplete": "one-time-code"}


class NumberForm(forms.Form):
    to = forms.CharField(label=_("Phone number"), max_length=32, help_text=_("With its country, such as +49 151 …"))

    def clean_to(self) -> str:
        return "".join(sign for sign in self.cleaned_data["to"] if sign in "+0123456789")


class CodeForm(forms.Form):
    code = forms.RegexField(r"^[0-9]{6}$", label=_("Code"), widget=forms.TextInput(attrs=_CODE))


@page_form(_("Send a code"), NumberForm)
def numbers(request: HttpRequest) -> HttpResponse:
    """The list, and the form that sends a code."""
    form = NumberForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        number = form.cleaned_data["to"]
        try:
            number_pk = phone_numbers.send_code(by=person_of(request), number=number)
        except Problem as problem:
            form.add_error("to", str(NUMBER_PROBLEMS[problem.code]))
        else:
            return _with_limits(request, redirect("numbers:code", number_pk))
    page = _page(request, form)
    return _with_limits(request, page) if request.method == "POST" else page


def _with_limits(request: HttpRequest, answer: HttpResponse) -> HttpResponse:
    for name, value in headers([phone_numbers.codes_left(person_of(request))]).items():
        answer.headers[name] = value
    return answer


@page_form(_("Verify"), CodeForm)
def code(request: HttpRequest, number_pk: int) -> HttpResponse:
    """Where the code that came is entered; the page can be left, to look for it, and found again."""
    try:
        number = phone_numbers.number_awaiting_code(by=person_of(request), number_pk=number_pk)
    except UnknownNumber:
        messages.error(request, gettext("No code is awaited for this number any more. Ask for a new one."))
        return redirect("numbers:numbers")
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            phone_numbers.verify_number(by=person_of(request), number_pk=number_pk, code=form.cleaned_data["code"])
        except WrongCode:
            form.add_error("code", str(NUMBER_PROBLEMS[WrongCode.code]))
        else:
            messages.success(request, gettext("Verified: this number is yours."))
            return redirect("numbers:numbers")
    return _page(request, form, sent_to=number)


@page_button(_("Remove"), danger=True)
def forget(request: HttpRequest, number_pk: int) -> HttpResponse:
    phone_numbers.forget_number(by=person_of(request), number_pk=number_pk)
    messages.success(
        request, gettext("Removed. No message is sent there any more, and what you agreed to about it has ended.")
    )
    return redirect("numbers:numbers")


def _page(request: HttpRequest, form: forms.Form, *, sent_to: str = "") -> HttpResponse:
    context = {
        "form": form,
        "sent_to": sent_to,
        "numbers": phone_numbers.numbers_of(person_of(request)),
        "awaiting": phone_numbers.awaiting_code(person_of(request)),
    }
    return render(request, "agents/numbers.html", context, status=400 if form.errors else 200)
