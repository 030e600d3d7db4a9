"""What staff do to scopes and domains. Keyword-only, the one who acts as `by=`."""

from collections.abc import Iterable

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from pkm.hooks import entries_withdrawn
from pkm.registry.models import Domain, ScopeEntry


@transaction.atomic
def expose_scopes(*, entry_pks: Iterable[int]) -> list[ScopeEntry]:
    """Let these scopes be asked for; returns those that could not be before."""
    return _switch(entry_pks, exposed=True)


@transaction.atomic
def withdraw_scopes(*, entry_pks: Iterable[int], by: User, ends_grants: bool = False) -> list[ScopeEntry]:
    """From the commit on nobody discovers, asks for or approves these scopes; returns those that could be before.

    What waits on them is cancelled soon after, and with `ends_grants` the live grants of them end. That holds for those
    that were withdrawn earlier, too: staff may leave grants alive first and end them later.
    """
    chosen = list(entry_pks)
    switched = _switch(chosen, exposed=False)
    touched = chosen if ends_grants else [entry.pk for entry in switched]
    if touched:
        entries_withdrawn.send(sender=ScopeEntry, entry_pks=touched, by=by, ends_grants=ends_grants)
    return switched


def retire_domain(*, domain: Domain, by: User) -> None:
    """After `domain` was made inactive, in the same transaction: what waits on its scopes is cancelled soon after."""
    entry_pks = _lock(domain.scope_entries.values_list("pk", flat=True))
    if entry_pks:
        entries_withdrawn.send(sender=Domain, entry_pks=entry_pks, by=by, ends_grants=False)


def _switch(entry_pks: Iterable[int], *, exposed: bool) -> list[ScopeEntry]:
    locked = ScopeEntry.objects.filter(pk__in=_lock(entry_pks))
    changing = list(locked.exclude(exposure_enabled=exposed).order_by("pk"))
    ScopeEntry.objects.filter(pk__in=[entry.pk for entry in changing]).update(
        exposure_enabled=exposed, updated_at=timezone.now()
    )
    return changing


def _lock(entry_pks: Iterable[int]) -> list[int]:
    """Lock these entries against whoever asks for them or approves them, the lowest first."""
    rows = ScopeEntry.objects.select_for_update().filter(pk__in=list(entry_pks)).order_by("pk")
    return list(rows.values_list("pk", flat=True))
