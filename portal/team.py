"""The page of an app's team, what its buttons do, and the page that the link of an invitation opens.

A refusal is shown on the page, and nothing typed is lost.
"""

from collections.abc import Callable
from urllib.parse import urlencode

from allauth.account.models import EmailAddress
from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from accounts.interrupted.page_forms import page_button, page_form
from common.clock import database_now
from common.problems import Problem
from common.text import StrOrPromise
from developers.apps.models import AppStatus
from developers.members import actions, invitations, queries
from developers.members.models import AppInvitation, AppMember, MemberRole
from portal.shell import Tab, app_page, portal_page

_WORDS: dict[str, StrOrPromise] = {
    "owner_required": _("Only an owner of the app may do this."),
    "last_owner": _("An app always keeps an owner. Make somebody else an owner first."),
    "already_member": _("Whoever has this address is in the team already."),
    "already_invited": _("An invitation to this address is open. Send it again, or withdraw it first."),
    "invitation_ended": _("This invitation is no longer open."),
    "invitation_for_another": _("This invitation went to an address that is not a confirmed one of your account."),
    "too_many_invitations": _("That is enough invitations for one day. Try again tomorrow."),
    "not_found": _("They are not in the team any more."),
}


class InvitationForm(forms.Form):
    email = forms.EmailField(label=_("E-mail address"), max_length=254)
    role = forms.ChoiceField(
        label=_("Role"), choices=MemberRole.choices, initial=MemberRole.MEMBER, widget=forms.RadioSelect
    )


def in_words(refused: Problem) -> str:
    """What is refused about a team, in the reader's language."""
    return str(_WORDS.get(refused.code, refused.detail))


@require_safe
@app_page(Tab(_("Team"), "user"))
def members(request: HttpRequest, member: AppMember) -> HttpResponse:
    """Everybody in the team, who is invited, and what this person may do about it."""
    return _page(request, member, InvitationForm())


def _page(request: HttpRequest, member: AppMember, form: InvitationForm, status: int = 0) -> HttpResponse:
    team = list(queries.team_of(member.app))
    context = {
        "team": team,
        "can_leave": member.role != MemberRole.OWNER
        or member.app.status == AppStatus.CLOSED
        or any(one.role == MemberRole.OWNER and one.user.is_active and one.pk != member.pk for one in team),
        "invitations": queries.pending_invitations(member.app),
        "is_owner": member.role == MemberRole.OWNER,
        "form": form,
        "now": database_now(),
    }
    return portal_page(request, "portal/members.html", context, member=member, status=status)


@page_button(_("Invite"), InvitationForm, fresh=True)
@app_page(owners_only=True)
def invite(request: HttpRequest, member: AppMember) -> HttpResponse:
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _page(request, member, form)
    try:
        invitations.invite(
            app=member.app, email=form.cleaned_data["email"], role=form.cleaned_data["role"], by=member.user
        )
    except Problem as problem:
        form.add_error(None, in_words(problem))
        return _page(request, member, form, status=problem.status)
    messages.success(request, gettext("The invitation goes out by mail within a minute."))
    return redirect("portal:members", member.app.app_id)


@page_button(_("Send it again"), fresh=True)
@app_page(owners_only=True)
def resend(request: HttpRequest, member: AppMember, invitation_pk: int) -> HttpResponse:
    invitation = _invitation(member, invitation_pk)
    done = gettext("The invitation goes out once more, with a new link.")
    return _act(request, member, lambda: invitations.resend_invitation(invitation=invitation, by=member.user), done)


@page_button(_("Withdraw"))
@app_page(owners_only=True)
def withdraw(request: HttpRequest, member: AppMember, invitation_pk: int) -> HttpResponse:
    invitation = _invitation(member, invitation_pk)
    done = gettext("The invitation is withdrawn; its link opens nothing any more.")
    return _act(request, member, lambda: invitations.withdraw_invitation(invitation=invitation, by=member.user), done)


@page_button({"role=member": _("Make a member"), "role=owner": _("Make an owner")}, danger=True, fresh=True)
@app_page(owners_only=True)
def change_role(request: HttpRequest, member: AppMember, member_id: str) -> HttpResponse:
    other, role = _other(member, member_id), request.POST.get("role", "")
    if role not in MemberRole.values:
        messages.error(request, gettext("Choose one of the two roles."))
        return _page(request, member, InvitationForm(), status=400)
    done = gettext("The role is changed.") if role != MemberRole.OWNER else gettext("They are asked by mail to own it.")
    return _act(request, member, lambda: actions.change_role(member=other, role=role, by=member.user), done)


@page_button(_("Hand the app over"), danger=True, fresh=True)
@app_page(owners_only=True)
def transfer(request: HttpRequest, member: AppMember, member_id: str) -> HttpResponse:
    other = _other(member, member_id)
    done = gettext("They are asked by mail; once they accept, the app is theirs and you are a member of it.")
    if other.role == MemberRole.OWNER:
        done = gettext("The app is theirs; you are a member of it now.")
    return _act(request, member, lambda: actions.transfer_ownership(to=other, by=member.user), done)


@page_button(_("Remove"), danger=True, fresh=True)
@app_page(owners_only=True)
def remove(request: HttpRequest, member: AppMember, member_id: str) -> HttpResponse:
    other = _other(member, member_id)
    done = gettext("They are no longer in the team. Rotate the tokens that they knew.")
    return _act(request, member, lambda: actions.remove_member(member=other, by=member.user), done)


@page_button(_("Leave the team"), danger=True, fresh=True)
@app_page()
def leave(request: HttpRequest, member: AppMember) -> HttpResponse:
    done = gettext("You left the team of %(app)s.") % {"app": member.app.name}
    return _act(request, member, lambda: actions.remove_member(member=member, by=member.user), done)


@page_button({"agreed=yes": _("Let this app ask me"), "agreed=no": _("Take it back")})
@app_page()
def agree_to_tests(request: HttpRequest, member: AppMember) -> HttpResponse:
    agreed = request.POST.get("agreed") == "yes"
    done = gettext("This app may ask you now.") if agreed else gettext("This app may not ask you any more.")
    return _act(request, member, lambda: actions.agree_to_tests(member=member, agreed=agreed, by=member.user), done)


def _act(request: HttpRequest, member: AppMember, act: Callable[[], object], done: str) -> HttpResponse:
    """Do it and redirect; a refusal is shown on the page. Somebody no longer in the team is sent to their apps."""
    try:
        act()
    except Problem as problem:
        messages.error(request, in_words(problem))
        return _page(request, member, InvitationForm(), status=problem.status)
    messages.success(request, done)
    if not AppMember.objects.filter(app=member.app, user=member.user).exists():
        return redirect("portal:home")
    return redirect("portal:members", member.app.app_id)


def _other(member: AppMember, member_id: str) -> AppMember:
    found = queries.team_member(member.app, member_id)
    if found is None:
        raise Http404
    return found


def _invitation(member: AppMember, invitation_pk: int) -> AppInvitation:
    found = AppInvitation.objects.select_related("app", "person").filter(app=member.app, pk=invitation_pk).first()
    if found is None:
        raise Http404
    return found


@page_form({"own": _("Own the app"), "": _("Join the team")}, signs_in=False)
def accept(request: HttpRequest, secret: str) -> HttpResponse:
    """What an invitation is for, for whoever has its link; by POST the one who is signed in joins."""
    if request.method == "POST" and request.user.is_authenticated:
        try:
            member = invitations.accept_invitation(secret=secret, by=request.user)
        except Problem as problem:
            messages.error(request, in_words(problem))
            return _invitation_page(request, secret, status=problem.status)
        messages.success(request, gettext("You are in the team of %(app)s now.") % {"app": member.app.name})
        return redirect("portal:app", member.app.app_id)
    return _invitation_page(request, secret)


def _invitation_page(request: HttpRequest, secret: str, status: int = 0) -> HttpResponse:
    found = invitations.open_invitation(secret)
    user = request.user if request.user.is_authenticated else None
    joined = AppMember.objects.filter(app=found.app, user=user) if found and user else AppMember.objects.none()
    context = {
        "invitation": found,
        "is_member": joined.exists(),
        "is_for_them": bool(found and user and invitations.is_for(found, user)),
        "to_confirm": found and user and EmailAddress.objects.filter(user=user, email__iexact=found.email).exists(),
        "back": urlencode({"next": reverse("portal:invitation", args=[secret])}) if found else "",
    }
    return portal_page(request, "portal/invitation.html", context, status=status or (200 if found else 404))
