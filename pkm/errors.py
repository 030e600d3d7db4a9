"""What the vault's addresses refuse."""

from common.problems import NotFound, Problem


class VaultExists(Problem):
    """A vault is created once; add a wrapper instead."""

    code, status, title = "vault_exists", 409, "You already have a vault"


class VaultAbsent(Problem):
    """There is no vault yet, so there is nothing to write to or to unlock."""

    code, status, title = "vault_absent", 409, "Create your vault first"


class VaultLockedOut(Problem):
    """Its owner said that every way into the vault is lost; `DELETE /vault/reset` takes that back."""

    code, status, title = "vault_locked_out", 409, "You gave your vault up; take that back first"


class LastWrapper(Problem):
    """The last way into a vault cannot be removed."""

    code, status, title = "last_wrapper", 409, "This is the last way into your vault"


class OnlyRecoveryLeft(Exception):
    """The recovery code alone would be left: a page asks once more before it does this."""


class StaleRevision(Problem):
    """Someone else wrote first; `current_content_revision` is what counts now. Nothing was overwritten."""

    code, status, title = "stale_revision", 409, "This was changed elsewhere in the meantime"


class SegmentMismatch(Problem):
    """The sealed segment's protected header does not belong to this address, person, vault or revision."""

    code, status, title = "segment_mismatch", 400, "The sealed segment does not belong here"


class WrapperMismatch(Problem):
    """The sealed wrapper's protected header does not fit its kind, this person or this vault."""

    code, status, title = "wrapper_mismatch", 400, "The sealed key does not belong here"


class RotationRequired(Problem):
    """The vault has an approval root: another one takes its place only with a `rotation` that both sign."""

    code, status, title = "rotation_required", 403, "Only the present approval key can name another"


class ApprovalMismatch(Problem):
    """The approval root, or what it is sealed in, does not belong to this person and vault; `member` names what."""

    code, status, title = "approval_mismatch", 400, "The signature is not of this"


class NotesMismatch(Problem):
    """The vault's sealed notes do not belong to this person, vault or revision; `member` names what differs."""

    code, status, title = "notes_mismatch", 400, "The sealed notes do not belong here"


class TooManyAttributes(Problem):
    """A segment holds at most 500 attributes."""

    code, status, title = "too_many_attributes", 400, "Too many attributes in one segment"


class ReservedName(Problem):
    """An attribute of the person's own would pass for an answer that is made from another value."""

    code, status, title = "reserved_name", 400, "An answer in place of a value has this name"


class TooManyWrappers(Problem):
    """A vault has at most twenty ways in."""

    code, status, title = "too_many_wrappers", 409, "Too many ways into one vault"


class QuotaExceeded(Problem):
    """Your storage is full, older revisions given up already; `used_bytes` and `quota_bytes` say how full."""

    code, status, title = "quota_exceeded", 413, "There is no room left for this"


class PossessionRequired(Problem):
    """Whoever changes the vault's key has to hold it: `possession` is missing, or is of another key."""

    code, status, title = "possession_required", 403, "Show that you can open the vault first"


class RotationUnderWay(Problem):
    """The vault's key is being changed: finish that, or give it up, first."""

    code, status, title = "rotation_under_way", 409, "The vault's key is being changed"


class RotationIncomplete(Problem):
    """Not every segment is re-sealed as it is now, or not as you read it back; `missing` names the first of them."""

    code, status, title = "rotation_incomplete", 409, "The change of the vault's key is not complete"


class UnknownRotation(NotFound):
    """Your vault's key is not being changed."""


class UnknownSegment(NotFound):
    """The registry has no such segment in an active domain."""


class UnknownWrapper(NotFound):
    """You have no such way into your vault, or it was removed more than seven days ago."""


class UnknownScope(NotFound):
    """The registry has no such scope."""


class UnknownLegacyRecord(NotFound):
    """Nothing of yours from the old system waits there."""
