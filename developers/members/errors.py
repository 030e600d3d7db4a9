"""What is refused about the team of an app."""

from common.problems import Problem


class OwnerRequired(Problem):
    """Only an owner of the app may do this; the one who asks is none."""

    code = "owner_required"
    status = 403
    title = "Only an owner of the app may do this"


class LastOwner(Problem):
    """An app always keeps an owner; this one is the last."""

    code = "last_owner"
    status = 409
    title = "An app keeps at least one owner"


class AlreadyMember(Problem):
    """They are a member of the app."""

    code = "already_member"
    status = 409
    title = "They are a member already"


class AlreadyInvited(Problem):
    """They are asked already."""

    code = "already_invited"
    status = 409
    title = "An invitation to this address is open"


class InvitationEnded(Problem):
    """The invitation was accepted or withdrawn, has expired, or was sent anew with another link."""

    code = "invitation_ended"
    status = 410
    title = "This invitation is no longer open"


class InvitationForAnother(Problem):
    """The invitation went to an address that is not a confirmed one of this account."""

    code = "invitation_for_another"
    status = 403
    title = "This invitation is for another address"


class TooManyInvitations(Problem):
    """So many people were invited or added within a day as an app, its member or an address may be."""

    code = "too_many_invitations"
    status = 429
    title = "Too many invitations today"
