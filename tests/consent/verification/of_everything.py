"""What is done to chains that are made flawless again, in part and altogether."""

import base64

from common.clock import database_now
from consent.event_types import EventType
from consent.exports.models import Read
from consent.exports.read_batches import COLUMNS, batch_hash
from consent.grants.actions import facts_of
from consent.grants.models import Grant
from consent.ledger import audit, receipts
from consent.ledger.models import AuditChain, AuditEntry, LogQueue, Receipt
from consent.log.models import LogLeaf
from consent.notices.models import Notice
from consent.requests.models import ConsentRequest
from consent.requests.record import Change, record
from consent.states import Actor
from developers.people import AppPerson
from tests.consent.verification.chains_forged import (
    drop,
    entries_of,
    entry_about,
    rehash,
    retell,
    sign_again,
)
from tests.consent.verification.rows_forged import ask_otherwise, forge_grant, forget_chain, forget_rows, set_grant
from tests.consent.verification.table import APP, APPROVAL, LOG, OPERATOR, ROWS, row
from tests.consent.verification.world import DIET, World


# --- Chains made flawless again, and something forgotten --------------------------------------------------------------
@row(ROWS, "is revoked")
def forget_revocation(world: World) -> None:
    """Cut a revocation out of the person's chain and hash the rest again."""
    drop(entries_of(world.chain, kind="revoked"))
    rehash(world.chain, resign=True)


@row(ROWS, "and its chain tells of")
def cut_apps_chain(world: World) -> None:
    """Cut a denial out of the app's chain and hash the rest again."""
    drop(entries_of(world.shops_chain, kind="denied"))
    rehash(world.shops_chain)


@row(ROWS, "and the entries hold")
def forget_batch(world: World) -> None:
    """Cut the reads out of the person's chain and hash the rest again."""
    drop(entries_of(world.chain, kind="reads"))
    rehash(world.chain, resign=True)


@row(ROWS, "no entry tells that")
def erase_chain_alone(world: World) -> None:
    """Erase a person's whole chain, as if it had never begun."""
    forget_chain(world.chain)


@row(ROWS, "there is no such request")
def erase_person_and_rows(world: World) -> None:
    """Erase a person's chain and every row about them."""
    forget_chain(world.chain)
    forget_rows(world)


@row(ROWS, "there is no such receipt")
def roll_person_back(world: World) -> None:
    """Roll one person back to before a denial, and leave the app's chain."""
    drop(entries_of(world.chain, kind="denied"))
    rehash(world.chain, resign=True)
    Notice.objects.filter(request=world.denied).delete()
    Receipt.objects.filter(request=world.denied).delete()
    ConsentRequest.objects.filter(pk=world.denied.pk).update(status="pending", decided_at=None, decided_by="")


# --- All of it made to fit: only the log can tell, or who kept something of that --------------------------------------
@row(LOG)
def roll_back_everywhere(world: World) -> None:
    """With the receipt key: roll a denial back in both chains, hash both again, and put every row back."""
    for chain in (world.chain, world.shops_chain):
        drop(entries_of(chain, kind="denied"))
        rehash(chain, resign=True)
    Notice.objects.filter(request=world.denied).delete()
    Receipt.objects.filter(request=world.denied).delete()
    ConsentRequest.objects.filter(pk=world.denied.pk).update(status="pending", decided_at=None, decided_by="")


@row(LOG)
def fork_history(world: World) -> None:
    """With the receipt key: another history for one person, other salts and hashes, receipts signed again."""
    rehash(world.chain, resign=True)


@row(LOG)
def widen_everywhere(world: World) -> None:
    """With the receipt key: widen a grant, and let both chains, hashed again, and the receipt tell of it."""
    attributes = [*world.live.approved_attributes, DIET]
    set_grant(world.live, approved_attributes=attributes)
    for notice in Notice.objects.filter(request=world.live.request):
        grant = {**notice.facts["grant"], "approved_attributes": attributes}
        Notice.objects.filter(pk=notice.pk).update(facts={**notice.facts, "grant": grant})
    request_id = world.live.request.request_id
    sign_again(entry_about(world.chain, request_id, "approved"), pii_types=attributes)
    claims = receipts.verified(Receipt.objects.get(request=world.live.request).jws) or {}
    for chain in (world.chain, world.shops_chain):
        entry = entry_about(chain, request_id, "approved")
        retell(
            entry,
            approved_attributes=attributes,
            grant={**entry.facts["grant"], "approved_attributes": attributes},
            receipt_digest=receipts.digest_of(claims),
        )
        rehash(chain, resign=True)


@row(LOG)
def move_read_everywhere(world: World) -> None:
    """With the receipt key: say that a read came from another network, and let the chain, hashed again, hold that."""
    Read.objects.filter(pk=world.reads()[0].pk).update(address_prefix="198.51.100.0/24")
    entry = entries_of(world.chain, kind="reads").get()
    there = list(Read.objects.filter(batch=entry.facts["batch"]).order_by("pk").values(*COLUMNS))
    batch = batch_hash(there, entry.facts["salt"])
    Read.objects.filter(batch=entry.facts["batch"]).update(batch=batch)
    retell(entry, batch=batch)
    rehash(world.chain, resign=True)


@row(LOG)
def forget_person_everywhere(world: World) -> None:
    """With the receipt key: erase a person, every row about them, and each entry of an app's chain about them."""
    names = set(AppPerson.objects.filter(user=world.ada.user).values_list("pairwise_id", flat=True))
    apps = AuditChain.objects.filter(subject__startswith=audit.app_chain("")).values_list("chain", flat=True)
    forget_chain(world.chain)
    forget_rows(world)
    for chain in apps:
        drop(entries_of(chain, kept__about__in=names))
        rehash(chain, resign=True)


@row(LOG)
def forget_that_staff_looked(world: World) -> None:
    """With the receipt key: forget that staff looked at somebody's records, and hash the rest again."""
    subject = audit.person_chain(world.ada.user.public_id)
    audit.append(chain=subject, kind="staff_viewed", actor="staff", at=world.live.starts_at, facts={"what": "grants"})
    drop(entries_of(world.chain, kind="staff_viewed"))
    rehash(world.chain, resign=True)


@row(APPROVAL)
def approve_by_own_code(world: World) -> None:
    """With the receipt key: approve in a person's name, with entries, receipt and notice as they should be."""
    forge_grant(world.waiting)
    request = ConsentRequest.objects.select_related("app__application", "user", "scope_entry").get(pk=world.waiting.pk)
    grant = Grant.objects.get(request=request)
    facts = {"approved_attributes": grant.approved_attributes}
    record(
        Change(request, EventType.APPROVED, Actor.PERSON, grant.starts_at, grant=facts_of(grant), facts=facts)
    )  # fmt: skip


@row(APP)
def ask_for_another_purpose(world: World) -> None:
    """Change the purpose and the digest of a request that waits."""
    ask_otherwise(world.waiting, purpose="Suggest something quite different")


@row(OPERATOR)
def pretend_restore(world: World) -> None:
    """With the receipt key: roll a denial back everywhere, and say that a restore lost it"""
    roll_back_everywhere(world)
    there = {each.pk: base64.urlsafe_b64decode(f"{each.entry_hash}=") for each in AuditEntry.objects.all()}
    lost = [
        leaf for leaf in LogLeaf.objects.order_by("log_index") if there.get(leaf.entry_id) != bytes(leaf.entry_hash)
    ]
    LogLeaf.objects.filter(pk__in=[leaf.pk for leaf in lost]).update(entry=None)
    LogQueue.objects.bulk_create(LogQueue(entry=each) for each in AuditEntry.objects.filter(leaf=None))
    facts = {"epoch": "", "leaves_without_entries": [[leaf.log_index, leaf.log_index] for leaf in lost]}
    audit.append(chain=audit.DEPLOYMENT, kind="restored", actor="system", at=database_now(), facts=facts)
