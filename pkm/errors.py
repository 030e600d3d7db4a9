"""What the vault's addresses refuse."""

from common.problems import Kind, NotFound, Problem

# fmt: off
VaultExists = Kind("vault_exists", 409, "You already have a vault",
    "A vault is created once; add a wrapper instead.")
VaultLockedOut = Kind("vault_locked_out", 409, "You gave your vault up; take that back first",
    "Its owner said that every way into the vault is lost; `DELETE /vault/reset` takes that back.")
StaleRevision = Kind("stale_revision", 409, "This was changed elsewhere in the meantime",
    "Someone else wrote first; `current_content_revision` is what counts now. Nothing was overwritten.")
SegmentMismatch = Kind("segment_mismatch", 400, "The sealed segment does not belong here",
    "The sealed segment's protected header does not belong to this address, person, vault or revision.")
WrapperMismatch = Kind("wrapper_mismatch", 400, "The sealed key does not belong here",
    "The sealed wrapper's protected header does not fit its kind, this person or this vault.")
RotationRequired = Kind("rotation_required", 403, "Only the present approval key can name another",
    "The vault has an approval root: another one takes its place only with a `rotation` that both sign.")
ApprovalMismatch = Kind("approval_mismatch", 400, "The signature is not of this",
    "The approval root, or what it is sealed in, does not belong to this person and vault; `member` names what.")
NotesMismatch = Kind("notes_mismatch", 400, "The sealed notes do not belong here",
    "The vault's sealed notes do not belong to this person, vault or revision; `member` names what differs.")
TooManyAttributes = Kind("too_many_attributes", 400, "Too many attributes in one segment",
    "A segment holds at most 500 attributes.")
ReservedName = Kind("reserved_name", 400, "An answer in place of a value has this name",
    "An attribute of the person's own would pass for an answer that is made from another value.")
QuotaExceeded = Kind("quota_exceeded", 413, "There is no room left for this",
    "Your storage is full, older revisions given up already; `used_bytes` and `quota_bytes` say how full.")
PossessionRequired = Kind("possession_required", 403, "Show that you can open the vault first",
    "Whoever changes the vault's key has to hold it: `possession` is missing, or is of another key.")
RotationIncomplete = Kind("rotation_incomplete", 409, "The change of the vault's key is not complete",
    "Not every segment is re-sealed as it is now, or not as you read it back; `missing` names the first of them.")
# fmt: on


class VaultAbsent(Problem):
    """There is no vault yet, so there is nothing to write to or to unlock."""

    code, status, title = "vault_absent", 409, "Create your vault first"


class LastWrapper(Problem):
    """The last way into a vault cannot be removed."""

    code, status, title = "last_wrapper", 409, "This is the last way into your vault"


class OnlyRecoveryLeft(Exception):
    """The recovery code alone would be left: a page asks once more before it does this."""


class TooManyWrappers(Problem):
    """A vault has at most twenty ways in."""

    code, status, title = "too_many_wrappers", 409, "Too many ways into one vault"


class RotationUnderWay(Problem):
    """The vault's key is being changed: finish that, or give it up, first."""

    code, status, title = "rotation_under_way", 409, "The vault's key is being changed"


class UnknownRotation(NotFound):
    """Your vault's key is not being changed."""


class UnknownWrapper(NotFound):
    """You have no such way into your vault, or it was removed more than seven days ago."""
