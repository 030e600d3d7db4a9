"""What is refused about the team of an app."""

from common.problems import Problem


class OwnerRequired(Problem):
    """Only an owner of the app may do this; the one who asks is none."""

    code, status, title = "owner_required", 403, "Only an owner of the app may do this"


class LastOwner(Problem):
    """An app always keeps an owner; this one is the last."""

    code, status, title = "last_owner", 409, "An app keeps at least one owner"


class AlreadyMember(Problem):
    """They are a member of the app."""

    code, status, title = "already_member", 409, "They are a member already"


class AlreadyInvited(Problem):
    """They are asked already."""

    code, status, title = "already_invited", 409, "An invitation to this address is open"


class InvitationEnded(Problem):
    """The invitation was accepted or withdrawn, has expired, or was sent anew with another link."""

    code, status, title = "invitation_ended", 410, "This invitation is no longer open"


class InvitationForAnother(Problem):
    """The invitation went to an address that is not a confirmed one of this account."""

    code, status, title = "invitation_for_another", 403, "This invitation is for another address"


class TooManyInvitations(Problem):
    """So many people were invited or added within a day as an app, its member or an address may be."""

    code, status, title = "too_many_invitations", 429, "Too many invitations today"
