"""Everything that changes what a person keeps. Keyword-only, the one who acts as `by=`."""

from pkm.actions.hiding import hide_scope, show_scope
from pkm.actions.segments import delete_segment, write_segment
from pkm.actions.vault import (
    NewWrapper,
    add_wrapper,
    create_vault,
    finish_setup,
    forget_removed_wrappers,
    note_unlock,
    remove_wrapper,
    restore_wrapper,
)

__all__ = [
    "NewWrapper",
    "add_wrapper",
    "create_vault",
    "delete_segment",
    "finish_setup",
    "forget_removed_wrappers",
    "hide_scope",
    "note_unlock",
    "remove_wrapper",
    "restore_wrapper",
    "show_scope",
    "write_segment",
]
