"""Every approval ends with the vault that signed it: who begins anew, decides anew. What waits goes on waiting."""

from collections.abc import Callable

from accounts.models import User
from common.clock import database_now
from consent.grants.actions import end_grant
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.protection import lock_heads
from consent.states import Actor, GrantStatus

REASON = "vault_reset"  # the `end_reason`


def lock_grants(user: User, **_: object) -> Callable[[], None]:
    """Lock what apps may read of this person, paused or not; returns what ends it. Inside a transaction.

    Nothing is approved meanwhile: a vault that was given up signs nothing.
    """
    now = database_now()
    live = Grant.objects.live(now).filter(user=user)
    locked = list(live.select_for_update(of=["self"]).order_by("pk").values_list("pk", "app__app_id"))

    def end() -> None:
        lock_heads([audit.person_chain(user.public_id), *(audit.app_chain(app_id) for _, app_id in locked)])
        for grant_pk, _ in locked:
            end_grant(grant_pk=grant_pk, to=GrantStatus.REVOKED, actor=Actor.SYSTEM, at=now, reason=REASON)

    return end
