"""What is refused about a team, in the words of its pages and in the reader's language."""

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from common.problems import Problem

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

_WORDS: "dict[str, StrOrPromise]" = {
    "owner_required": _("Only an owner of the app may do this."),
    "last_owner": _("An app always keeps an owner. Make somebody else an owner first."),
    "already_member": _("Whoever has this address is in the team already."),
    "already_invited": _("An invitation to this address is open. Send it again, or withdraw it first."),
    "invitation_ended": _("This invitation is no longer open."),
    "invitation_for_another": _("This invitation went to an address that is not a confirmed one of your account."),
    "too_many_invitations": _("That is enough invitations for one day. Try again tomorrow."),
    "not_found": _("They are not in the team any more."),
}


def in_words(problem: Problem) -> str:
    return str(_WORDS.get(problem.code, problem.detail))
