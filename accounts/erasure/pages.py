"""The page on which a person deletes their account, and the two ways to take that back."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.erasure import actions as erasure_actions
from accounts.erasure import queries as erasure_queries
from accounts.erasure.actions import ErasureBlocked
from accounts.interrupted.middleware import wait_for_sign_in
from accounts.interrupted.page_forms import Field, page_button, page_form
from accounts.sign_in.confirming import signed_in_recently, where_to_confirm
from common.identifiers import secret_digest
from common.mail import mailbox


@page_form(_("Delete the account"), Field("address", _("E-mail address"), "text", 254), danger=True)
def delete(request: HttpRequest) -> HttpResponse:
    """What becomes of everything, then the form; behind a fresh sign-in, with the second factor where there is one."""
    confirm_at = _where_to_confirm(request)
    if request.method == "POST":
        return wait_for_sign_in(request, confirm_at) if confirm_at else _request(request)
    return _page(request, confirm_at)


def _page(request: HttpRequest, confirm_at: str, *, typed: str = "", wrong: str = "") -> HttpResponse:
    user = person_of(request)
    shown = {
        "days": settings.ERASURE_WAIT_DAYS,
        "outcomes": erasure_queries.consequences_of(user),
        "obstacles": erasure_queries.obstacles(user),
        "confirm_at": confirm_at,
        "typed": typed,
        "wrong": wrong,
    }
    return render(request, "account_security/delete.html", shown, status=400 if wrong else 200)


def _request(request: HttpRequest) -> HttpResponse:
    user = person_of(request)
    typed = request.POST.get("address", "").strip()
    if mailbox(typed) != mailbox(user.email):
        return _page(request, "", typed=typed[:254], wrong=gettext("This is not the address of this account."))
    try:
        erasure = erasure_actions.request_erasure(by=user)
    except ErasureBlocked:
        return redirect("account-delete")
    when = date_format(erasure.due_at, "DATETIME_FORMAT")
    messages.success(
        request, gettext("Your account will be deleted on %(when)s (UTC). Until then you can keep it.") % {"when": when}
    )
    return redirect("account-delete")


def _where_to_confirm(request: HttpRequest) -> str:
    """Where to show that it is them; empty where they just did."""
    back = urlencode({"next": reverse("account-delete")})
    return "" if signed_in_recently(request) else f"{where_to_confirm(person_of(request))}?{back}"


@page_button(_("Keep my account"))
def keep(request: HttpRequest) -> HttpResponse:
    """The account stays after all."""
    if erasure_actions.take_back(by=person_of(request)):
        messages.success(request, gettext("Your account stays. Nothing was deleted."))
    return redirect("account-delete")


@page_form(_("Keep my account"), Field("code", _("Code from the mail"), "text", 64), open_to_all=True)
def keep_by_mail(request: HttpRequest) -> HttpResponse:
    """The same by the link of the mail, signed in or not; a page with a button, since mail programs open links.

    Where the account is gone, it shows who else was asked to delete something, and what they answered.

    The link's secret stands behind its #: a script puts it into the form, and without one it can be pasted.
    """
    if request.method != "POST":
        return render(request, "account_security/keep.html")
    code = request.POST.get("code", "").strip()
    shown: dict[str, Any] = {"sent": True, "kept": erasure_actions.take_back_by_mail(secret=code)}
    done = None if shown["kept"] else erasure_queries.done_by_mail(secret_digest(code))
    if done is not None:
        shown |= {"done": done, "answers": erasure_queries.answers_elsewhere(done)}
    return render(request, "account_security/keep.html", shown, status=200 if shown["kept"] or done else 404)
