"""What the worker does for this room on a timer."""

from celery import shared_task

from pkm.reset import actions as reset_actions
from pkm.segments import exposure


@shared_task
def bring_manifests_up_to_date() -> int:
    """Bring the paths of people's manifests to what staff made of the registry."""
    return exposure.bring_paths_up_to_date()


@shared_task
def carry_out_vault_resets() -> int:
    """Destroy the vaults that were given up seven days ago."""
    return reset_actions.carry_out_resets()
