"""What is refused about the team of an app."""

from common.problems import Kind

# fmt: off
OwnerRequired = Kind("owner_required", 403, "Only an owner of the app may do this",
    "Only an owner of the app may do this; the one who asks is none.")
LastOwner = Kind("last_owner", 409, "An app keeps at least one owner",
    "An app always keeps an owner; this one is the last.")
AlreadyMember = Kind("already_member", 409, "They are a member already",
    "They are a member of the app.")
AlreadyInvited = Kind("already_invited", 409, "An invitation to this address is open",
    "They are asked already.")
InvitationEnded = Kind("invitation_ended", 410, "This invitation is no longer open",
    "The invitation was accepted or withdrawn, has expired, or was sent anew with another link.")
InvitationForAnother = Kind("invitation_for_another", 403, "This invitation is for another address",
    "The invitation went to an address that is not a confirmed one of this account.")
TooManyInvitations = Kind("too_many_invitations", 429, "Too many invitations today",
    "So many people were invited or added within a day as an app, its member or an address may be.")
# fmt: on
