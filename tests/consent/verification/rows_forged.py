"""What one who owns the database needs to make rows fit, or to forge them."""

from collections.abc import Callable
from datetime import timedelta

from common.identifiers import new_identifier
from consent.exports.models import Read
from consent.grants.models import Grant
from consent.ledger.canonical import sha256_canonical
from consent.ledger.models import AuditChain, AuditEntry, AuditHead
from consent.notices.models import Notice
from consent.requests import digest
from consent.requests.models import ConsentRequest
from tests.consent.verification.chains_forged import (
    drop,
    entries_of,
    run_sql,
)
from tests.consent.verification.world import World


# --- The tools --------------------------------------------------------------------------------------------------------
def set_grant(grant: Grant, **values: object) -> None:
    Grant.objects.filter(pk=grant.pk).update(**values)


Change = Callable[[World], object]


def live(**values: object) -> Change:
    return lambda world: set_grant(world.live, **values)


def stopped(**values: object) -> Change:
    return lambda world: set_grant(world.stopped, **values)


def second(**values: object) -> Change:
    """The second entry of Ada's chain."""
    return lambda world: AuditEntry.objects.filter(chain=world.chain, sequence=2).update(**values)


def paused(**values: object) -> Change:
    return lambda world: set_grant(world.paused, **values)


def first_read(**values: object) -> Change:
    return lambda world: Read.objects.filter(pk=world.reads()[0].pk).update(**values)


def ask_otherwise(request: ConsentRequest, **changes: object) -> None:
    ConsentRequest.objects.filter(pk=request.pk).update(**changes)
    there = ConsentRequest.objects.select_related("app", "user").get(pk=request.pk)
    members = digest.members_of(there, app_id=there.app.app_id)
    ConsentRequest.objects.filter(pk=request.pk).update(request_digest=sha256_canonical(members))


def forge_grant(request: ConsentRequest, status: str | None = "approved") -> None:
    start = request.created_at
    if status:
        ConsentRequest.objects.filter(pk=request.pk).update(status=status, decided_at=start, decided_by="person")
    Grant.objects.create(
        grant_id=new_identifier("grt"), request=request, app_id=request.app_id, user_id=request.user_id,
        scope=request.scope, approved_attributes=request.attributes, starts_at=start,
        expires_at=start + timedelta(seconds=request.access_duration), max_reads=request.max_reads,
    )  # fmt: skip


def forget_chain(chain: str) -> None:
    drop(entries_of(chain))
    AuditHead.objects.filter(chain=chain).delete()
    AuditChain.objects.filter(chain=chain).delete()


def forget_rows(world: World) -> None:
    person = world.ada.user.pk
    requested = "(SELECT id FROM consent_requests WHERE user_id = %s)"
    granted = "(SELECT id FROM consent_grants WHERE user_id = %s)"
    run_sql(f"DELETE FROM consent_reads WHERE grant_id IN {granted}", person)
    run_sql(f"DELETE FROM consent_exports WHERE grant_id IN {granted}", person)
    run_sql("DELETE FROM consent_grants WHERE user_id = %s", person)
    for table in ("consent_receipts", "consent_notices", "consent_mails"):
        run_sql(f"DELETE FROM {table} WHERE request_id IN {requested}", person)
    run_sql("DELETE FROM consent_requests WHERE user_id = %s", person)
    for number, notice in enumerate(Notice.objects.filter(app=world.shop).order_by("pk"), start=1):
        Notice.objects.filter(pk=notice.pk).update(sequence=number, facts={**notice.facts, "sequence": number})


def notices(world: World) -> list[Notice]:
    return list(Notice.objects.filter(request=world.live.request).order_by("pk"))
