"""The pages of an app's tokens, and of a person's own management tokens, for programs that do what the portal does.

A token's value is in the one answer that made it, and nowhere else.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_forms import page_form
from common.problems import Problem
from common.text import StrOrPromise
from developers.apps.models import AppStatus
from developers.members.models import AppMember
from developers.members.queries import memberships_of
from developers.tokens import actions, management_actions, queries
from developers.tokens.errors import AlreadyMade
from developers.tokens.models import DeveloperToken, ManagementPermission, ManagementToken, Permission
from portal.shell import Refusals, Tab, app_page, portal_page, posted
from portal.snippets import Snippet, snippets_of_management_token, snippets_of_token
from portal.token_forms import ManagementTokenForm, RotateForm, TokenForm

_ENDS_SOON = timedelta(days=14)
_MADE_BEFORE = _(
    "This form was sent before and made its token then; it was shown that one time. If you did not keep "
    "it, revoke it and make another."
)


@dataclass(frozen=True)
class State:
    """Whether a token works, in a word; `tone` is the badge's, `ends_at` when it ends where that is soon."""

    word: StrOrPromise
    tone: str
    is_live: bool
    ends_at: datetime | None = None
    can_rotate: bool = False


def state_of(token: DeveloperToken | ManagementToken) -> State:
    now = timezone.now()
    if token.leaked_at is not None:
        return State(_("Reported as leaked"), "bad", is_live=False)
    if token.revoked_at is not None and token.revoked_at <= now:
        return State(_("Revoked"), "n", is_live=False)
    if token.expires_at <= now:
        return State(_("Expired"), "n", is_live=False)
    if token.revoked_at is not None:
        return State(_("Rotated"), "warn", is_live=True, ends_at=min(token.revoked_at, token.expires_at))
    if token.expires_at <= now + _ENDS_SOON:
        return State(_("Ends soon"), "warn", is_live=True, can_rotate=True)
    return State(_("Works"), "ok", is_live=True, can_rotate=True)


@page_form(_("Make the token"), TokenForm, fresh=True)
@app_page(Tab(_("Tokens"), "key"))
def tokens(request: HttpRequest, member: AppMember) -> HttpResponse:
    form = TokenForm(posted(request), owner=f"{member.app.app_id} {member.user.public_id}")
    if form.is_valid():
        with Refusals(form):
            return _minted(request, member, form.cleaned_data)
    words = dict(Permission.choices)
    rows = [
        (token, state_of(token), [words.get(name, name) for name in token.permissions])
        for token in queries.tokens_of(member.app)
    ]
    if not rows:
        form.initial["label"] = gettext("First token")  # so that it takes one press
    context = {"rows": rows, "form": form, "is_open": member.app.status != AppStatus.CLOSED}
    return portal_page(request, "portal/tokens.html", context, member=member)


def _minted(request: HttpRequest, member: AppMember, typed: dict[str, Any]) -> HttpResponse:
    try:
        row, token = actions.mint_token(
            app=member.app,
            label=typed["label"],
            by=member.user,
            permissions=typed["permissions"],
            expires_at=timezone.now() + timedelta(days=typed["days"]),
            header_only=typed["header_only"],
            prefix=typed["prefix"],
        )
    except AlreadyMade:
        return _made_before(request)
    return _shown_once(request, row, token, snippets_of_token(token, header_only=row.header_only), member)


@page_form(_("Rotate it"), RotateForm, fresh=True)
@app_page()
def rotate(request: HttpRequest, member: AppMember, prefix: str) -> HttpResponse:
    """A fresh token in place of this one, which goes on for as long as is chosen."""
    old, form = _of_app(member, prefix), RotateForm(posted(request))
    if form.is_valid():
        try:
            row, token = actions.rotate_token(token=old, by=member.user, overlap=form.cleaned_data["overlap"])
        except Problem as problem:
            messages.error(request, problem.detail)
            return redirect("portal:tokens", member.app.app_id)
        return _shown_once(request, row, token, snippets_of_token(token, header_only=row.header_only), member)
    context = {"token": old, "state": state_of(old), "form": form}
    return portal_page(request, "portal/token_rotate.html", context, member=member)


@page_form(_("Revoke it"), danger=True)
@app_page()
def revoke(request: HttpRequest, member: AppMember, prefix: str) -> HttpResponse:
    """End this token at once, after a confirmation."""
    token = _of_app(member, prefix)
    if request.method != "POST":
        context = {"token": token, "state": state_of(token)}
        return portal_page(request, "portal/token_revoke.html", context, member=member)
    _add_revoked_message(request, actions.revoke_token(token=token, by=member.user))
    return redirect("portal:tokens", member.app.app_id)


def _of_app(member: AppMember, prefix: str) -> DeveloperToken:
    """The app's token with this prefix. Raises `Http404`."""
    token = DeveloperToken.objects.select_related("app").filter(app=member.app, prefix=prefix[:8]).first()
    if token is None or token.prefix != prefix:
        raise Http404
    return token


@page_form(_("Make the token"), ManagementTokenForm, fresh=True)
def management_tokens(request: HttpRequest) -> HttpResponse:
    """All management tokens of this person, and a form for another one."""
    by = person_of(request)
    form = ManagementTokenForm(posted(request), owner=by.public_id, memberships=list(memberships_of(by)))
    if form.is_valid():
        with Refusals(form):
            return _minted_management(request, form.cleaned_data)
    names = dict(form.fields["app"].choices)  # type: ignore[attr-defined]  # of a choice field
    names["*"] = gettext("Every app")
    rows = [(token, state_of(token), _allowed(token, names)) for token in queries.management_tokens_of(by)]
    context = {"rows": rows, "form": form, "made_lately": queries.made_lately(by)}
    return portal_page(request, "portal/management_tokens.html", context)


def _allowed(token: ManagementToken, names: dict[str, Any]) -> list[tuple[str, str]]:
    """What it may do with which app, in words."""
    words = dict(ManagementPermission.choices)
    return [
        (names.get(app_id, app_id), ", ".join(str(words.get(name, name)) for name in allowed))
        for app_id, allowed in token.permissions.items()
    ]


def _minted_management(request: HttpRequest, typed: dict[str, Any]) -> HttpResponse:
    try:
        row, token = management_actions.mint_management_token(
            label=typed["label"],
            by=person_of(request),
            permissions=typed["permissions"],
            lifetime=timedelta(days=typed["days"]),
            prefix=typed["prefix"],
        )
    except AlreadyMade:
        return _made_before(request)
    return _shown_once(request, row, token, snippets_of_management_token(token))


@page_form(_("Revoke it"), danger=True)
def revoke_management_token(request: HttpRequest, prefix: str) -> HttpResponse:
    """End this management token at once, after a confirmation."""
    token = ManagementToken.objects.filter(user=person_of(request), prefix=prefix[:8]).first()
    if token is None or token.prefix != prefix:
        raise Http404
    if request.method != "POST":
        return portal_page(request, "portal/token_revoke.html", {"token": token, "state": state_of(token)})
    _add_revoked_message(request, management_actions.revoke_management_token(token=token, by=person_of(request)))
    return redirect("portal:management-tokens")


def _made_before(request: HttpRequest) -> HttpResponse:
    messages.warning(request, str(_MADE_BEFORE))
    return redirect(request.path)


def _add_revoked_message(request: HttpRequest, was_live: bool) -> None:
    if was_live:
        messages.success(request, gettext("The token is revoked: the next call with it is refused."))
    else:
        messages.info(request, gettext("The token had ended already."))


def _shown_once(
    request: HttpRequest,
    row: DeveloperToken | ManagementToken,
    token: str,
    snippets: list[Snippet],
    member: AppMember | None = None,
) -> HttpResponse:
    context = {"label": row.label, "token": token, "snippets": snippets}
    answer = portal_page(request, "portal/token_made.html", context, member=member)
    answer["Cache-Control"] = "no-store"
    return answer
