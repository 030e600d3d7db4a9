"""The page of somebody's own management tokens, for programs that do what the portal does."""

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from accounts.authentication import person_of
from accounts.interrupted.page_forms import page_form
from common.problems import Problem
from developers.members import queries as member_queries
from developers.portal.shell import portal_page
from developers.portal.snippets import snippets_of_management_token
from developers.portal.token_forms import ManagementTokenForm
from developers.portal.tokens import standing_of
from developers.tokens import management_actions as actions
from developers.tokens import queries as token_queries
from developers.tokens.errors import AlreadyMade
from developers.tokens.models import ManagementPermission, ManagementToken

_METHODS = ["GET", "HEAD", "POST"]


@page_form(_("Make the token"), ManagementTokenForm, fresh=True)
@require_http_methods(_METHODS)
@login_required
def management_tokens(request: HttpRequest) -> HttpResponse:
    """All management tokens of this person, and a form for another one."""
    if request.method != "POST":
        return _list(request, _form(request))
    form = _form(request, request.POST)
    if form.is_valid():
        try:
            return _minted(request, form.cleaned_data)
        except AlreadyMade:
            text = gettext(
                "This form was sent before and made its token then; it was shown that one time. If you did not keep "
                "it, revoke it and make another."
            )
            messages.warning(request, text)
            return redirect("developers:management-tokens")
        except Problem as problem:
            form.add_error(None, problem.detail)
    return _list(request, form, status=400)


@page_form(_("Revoke it"), danger=True)
@require_http_methods(_METHODS)
@login_required
def revoke_management_token(request: HttpRequest, prefix: str) -> HttpResponse:
    """End this management token at once, after a confirmation."""
    token = ManagementToken.objects.filter(user=person_of(request), prefix=prefix[:8]).first()
    if token is None or token.prefix != prefix:
        raise Http404
    if request.method != "POST":
        context = {"token": token, "standing": standing_of(token)}
        return portal_page(request, "developers/management_token_revoke.html", context)
    if actions.revoke_management_token(token=token, by=person_of(request)):
        messages.success(request, gettext("The token is revoked: the next call with it is refused."))
    else:
        messages.info(request, gettext("The token had ended already."))
    return redirect("developers:management-tokens")


def _form(request: HttpRequest, given: Any = None) -> ManagementTokenForm:
    person = person_of(request)
    memberships = list(member_queries.memberships_of(person))
    return ManagementTokenForm(given, owner=person.public_id, memberships=memberships)


def _minted(request: HttpRequest, asked: dict[str, Any]) -> HttpResponse:
    row, token = actions.mint_management_token(
        label=asked["label"],
        by=person_of(request),
        permissions=asked["permissions"],
        lifetime=timedelta(days=asked["days"]),
        prefix=asked["prefix"],
    )
    context = {"row": row, "token": token, "snippets": snippets_of_management_token(token)}
    answer = portal_page(request, "developers/management_token_made.html", context)
    answer["Cache-Control"] = "no-store"
    return answer


def _list(request: HttpRequest, form: ManagementTokenForm, status: int = 200) -> HttpResponse:
    names = dict(form.fields["app"].choices)  # type: ignore[attr-defined]  # of a choice field
    names["*"] = gettext("Every app")
    words = dict(ManagementPermission.choices)
    rows = [
        (
            token,
            standing_of(token),
            [
                (names.get(app_id, app_id), ", ".join(str(words.get(name, name)) for name in allowed))
                for app_id, allowed in token.permissions.items()
            ],
        )
        for token in token_queries.management_tokens_of(person_of(request))
    ]
    context = {"rows": rows, "form": form, "made_lately": token_queries.made_lately(person_of(request))}
    return portal_page(request, "developers/management_tokens.html", context, status=status)
