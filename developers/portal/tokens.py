"""The pages of an app's tokens. A token's value is in the one answer that made it, and nowhere else."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from accounts.interrupted.page_forms import page_form
from common.problems import Problem
from developers.apps.models import AppStatus
from developers.members.models import AppMember
from developers.portal.shell import app_page, portal_page
from developers.portal.snippets import snippets_of_token
from developers.portal.token_forms import RotateForm, TokenForm
from developers.tokens import actions
from developers.tokens import queries as token_queries
from developers.tokens.errors import AlreadyMade
from developers.tokens.models import DeveloperToken, ManagementToken, Permission

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

_METHODS = ["GET", "HEAD", "POST"]
_ENDS_SOON = timedelta(days=14)


@dataclass(frozen=True)
class Standing:
    """Whether a token works, in a word; `tone` is the badge's, `ends_at` when it ends where that is soon."""

    word: "StrOrPromise"
    tone: str
    is_live: bool
    ends_at: datetime | None = None
    can_rotate: bool = False


def standing_of(token: DeveloperToken | ManagementToken) -> Standing:
    now = timezone.now()
    if token.leaked_at is not None:
        return Standing(_("Reported as leaked"), "bad", is_live=False)
    if token.revoked_at is not None and token.revoked_at <= now:
        return Standing(_("Revoked"), "neutral", is_live=False)
    if token.expires_at <= now:
        return Standing(_("Expired"), "neutral", is_live=False)
    if token.revoked_at is not None:
        return Standing(_("Rotated"), "warn", is_live=True, ends_at=min(token.revoked_at, token.expires_at))
    if token.expires_at <= now + _ENDS_SOON:
        return Standing(_("Ends soon"), "warn", is_live=True, can_rotate=True)
    return Standing(_("Works"), "good", is_live=True, can_rotate=True)


@page_form(_("Make the token"), TokenForm, fresh=True)
@require_http_methods(_METHODS)
@app_page()
def tokens(request: HttpRequest, member: AppMember) -> HttpResponse:
    """All tokens of the app, and a form for another one."""
    if request.method != "POST":
        return _list(request, member, TokenForm(owner=_owner(member)))
    form = TokenForm(request.POST, owner=_owner(member))
    if form.is_valid():
        try:
            return _minted(request, member, form.cleaned_data)
        except AlreadyMade:
            text = gettext(
                "This form was sent before and made its token then; it was shown that one time. If you did not keep "
                "it, revoke it and make another."
            )
            messages.warning(request, text)
            return redirect("developers:tokens", member.app.app_id)
        except Problem as problem:
            form.add_error(None, problem.detail)
    return _list(request, member, form, status=400)


def _minted(request: HttpRequest, member: AppMember, asked: dict[str, Any]) -> HttpResponse:
    row, token = actions.mint_token(
        app=member.app,
        label=asked["label"],
        by=member.user,
        permissions=asked["permissions"],
        expires_at=timezone.now() + timedelta(days=asked["days"]),
        header_only=asked["header_only"],
        prefix=asked["prefix"],
    )
    return _shown_once(request, member, row, token)


@page_form(_("Rotate it"), RotateForm, fresh=True)
@require_http_methods(_METHODS)
@app_page()
def rotate(request: HttpRequest, member: AppMember, prefix: str) -> HttpResponse:
    """A fresh token in place of this one, which goes on for as long as is chosen."""
    old = _own(member, prefix)
    form = RotateForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            row, token = actions.rotate_token(token=old, by=member.user, overlap=form.cleaned_data["overlap"])
        except Problem as problem:
            messages.error(request, problem.detail)
            return redirect("developers:tokens", member.app.app_id)
        return _shown_once(request, member, row, token)
    context = {"token": old, "standing": standing_of(old), "form": form}
    status = 400 if request.method == "POST" else 200
    return portal_page(request, "developers/token_rotate.html", context, member=member, status=status)


@page_form(_("Revoke it"), danger=True)
@require_http_methods(_METHODS)
@app_page()
def revoke(request: HttpRequest, member: AppMember, prefix: str) -> HttpResponse:
    """End this token at once, after a confirmation."""
    token = _own(member, prefix)
    if request.method != "POST":
        context = {"token": token, "standing": standing_of(token)}
        return portal_page(request, "developers/token_revoke.html", context, member=member)
    if actions.revoke_token(token=token, by=member.user):
        messages.success(request, gettext("The token is revoked: the next call with it is refused."))
    else:
        messages.info(request, gettext("The token had ended already."))
    return redirect("developers:tokens", member.app.app_id)


def _own(member: AppMember, prefix: str) -> DeveloperToken:
    """The app's token with this prefix. Raises `Http404`."""
    token = DeveloperToken.objects.select_related("app").filter(app=member.app, prefix=prefix[:8]).first()
    if token is None or token.prefix != prefix:
        raise Http404
    return token


def _owner(member: AppMember) -> str:
    return f"{member.app.app_id} {member.user.public_id}"


def _list(request: HttpRequest, member: AppMember, form: TokenForm, status: int = 200) -> HttpResponse:
    words = dict(Permission.choices)
    rows = [
        (token, standing_of(token), [words.get(name, name) for name in token.permissions])
        for token in token_queries.tokens_of(member.app)
    ]
    is_open = member.app.status != AppStatus.CLOSED
    context = {"rows": rows, "form": form, "is_open": is_open}
    return portal_page(request, "developers/tokens.html", context, member=member, status=status)


def _shown_once(request: HttpRequest, member: AppMember, row: DeveloperToken, token: str) -> HttpResponse:
    context = {"row": row, "token": token, "snippets": snippets_of_token(token)}
    answer = portal_page(request, "developers/token_made.html", context, member=member)
    answer["Cache-Control"] = "no-store"
    return answer
