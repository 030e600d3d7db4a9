"""What is done to approvals that the person's vault signed."""

from consent.exports.models import Export
from tests.consent.verification.table import ROWS, row
from tests.consent.verification.world import DIET, World


@row(ROWS, "is not what the vault signed")
def delete_approval(world: World) -> None:
    """Delete the approval that the person's vault signed."""
    Export.objects.filter(grant=world.live).update(approval=None, owner_key=None)


@row(ROWS, "is not what the vault signed")
def swap_approvals(world: World) -> None:
    """Put another approval of the same person in its place."""
    other = Export.objects.get(grant=world.stopped)
    Export.objects.filter(grant=world.live).update(approval=other.approval)


@row(ROWS, "says that other attributes were approved")
def approve_other_attributes(world: World) -> None:
    """Let an export say that other attributes were approved than its grant has."""
    Export.objects.filter(grant=world.live).update(approved_attributes=[DIET])
