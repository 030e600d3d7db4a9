"""What one who owns the database, and in some cases the receipt key, can do to history: the table of SECURITY.md.

Each names who finds it. `chains` and `rows` are the two halves of `verify_audit`. `log`: the chains and the rows are
made to fit each other, so only who kept something of before can tell, a checkpoint or a reader. `approval`: the
receiving app, by the signature of the vault. `app`: the app that asked, which knows what it asked.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import F

from common.identifiers import new_identifier
from consent.event_types import EventType
from consent.exports.models import Export, Read
from consent.exports.read_batches import COLUMNS, batch_hash
from consent.grants.actions import facts_of
from consent.grants.models import Grant
from consent.ledger import audit, receipts
from consent.ledger.canonical import sha256_canonical
from consent.ledger.models import AuditChain, AuditEntry, AuditFacts, AuditHead, Receipt
from consent.notices.models import Notice
from consent.requests import digest
from consent.requests.models import ConsentRequest
from consent.requests.record import record
from consent.states import Actor
from tests.consent.verification.chains_forged import (
    drop,
    entries_of,
    entry_about,
    entry_at,
    rehash,
    retell,
    run_sql,
    sign_again,
)
from tests.consent.verification.world import DIET, World
from tests.factories import TokenFactory

CHAINS, ROWS, LOG, APPROVAL, APP = "chains", "rows", "log", "approval", "app"


@dataclass(frozen=True)
class Manipulation:
    """One row of the table; `says` is part of the finding, in its own words."""

    what: str
    found_by: str
    says: str
    do: Callable[[World], None]


TABLE: list[Manipulation] = []


def _row(found_by: str, says: str = "") -> Callable[[Callable[[World], None]], Callable[[World], None]]:
    """The docstring says what is done."""

    def add(do: Callable[[World], None]) -> Callable[[World], None]:
        TABLE.append(Manipulation((do.__doc__ or "").strip().rstrip("."), found_by, says, do))
        return do

    return add


# --- The chains alone -------------------------------------------------------------------------------------------------
@_row(CHAINS, "it is not what was written")
def rewrite_kind(world: World) -> None:
    """Rewrite what an entry says happened."""
    AuditEntry.objects.filter(pk=entry_at(world.chain, 2).pk).update(kind="denied")


@_row(CHAINS, "it is not what was written")
def rewrite_time(world: World) -> None:
    """Rewrite when it happened."""
    AuditEntry.objects.filter(pk=entry_at(world.chain, 2).pk).update(at=F("at") + timedelta(seconds=1))


@_row(CHAINS, "it is not what was written")
def rewrite_actor(world: World) -> None:
    """Rewrite who did it."""
    AuditEntry.objects.filter(pk=entry_at(world.chain, 2).pk).update(actor="staff")


@_row(CHAINS, "its facts are not what was written")
def rewrite_facts(world: World) -> None:
    """Rewrite the facts of an entry."""
    retell(entry_at(world.chain, 2), scope="attr.lifestyle.*")


@_row(CHAINS, "it does not follow the entry before it")
def rewrite_and_hash(world: World) -> None:
    """Rewrite the facts of an entry and hash it again."""
    entry = entry_at(world.chain, 2)
    facts = {**entry.facts, "reason": "none"}
    AuditFacts.objects.filter(entry=entry).update(facts=facts)
    told = {name: getattr(entry, name) for name in ("version", "chain", "sequence", "prev_hash", "kind", "actor", "at")}
    hashed = audit.facts_hash(facts, bytes(entry.kept.salt))
    AuditEntry.objects.filter(pk=entry.pk).update(
        facts_hash=hashed, entry_hash=audit.entry_hash(**told, own_facts=None, facts_hash=hashed)
    )


@_row(CHAINS, "an entry is missing before it")
def delete_entry(world: World) -> None:
    """Delete an entry."""
    drop(entries_of(world.chain, sequence=3))


@_row(CHAINS, "the chain ends before its head")
def cut_tail(world: World) -> None:
    """Cut off the newest entries."""
    drop(entries_of(world.chain, sequence__gte=4))


@_row(CHAINS, "the chain ends before its head")
def truncate(world: World) -> None:
    """Delete all entries of a person."""
    drop(entries_of(world.chain))


@_row(CHAINS, "it does not follow the entry before it")
def insert_entry(world: World) -> None:
    """Insert an entry between two others."""
    entries = list(entries_of(world.chain, sequence__gte=3))
    for entry in reversed(entries):
        AuditEntry.objects.filter(pk=entry.pk).update(sequence=entry.sequence + 1)
    copy = entry_at(world.chain, 4)
    copy.pk, copy.sequence = None, 3
    copy.save(force_insert=True)


@_row(CHAINS, "it does not follow the entry before it")
def reorder(world: World) -> None:
    """Swap two entries."""
    for old, new in ((2, 1000), (3, 2), (1000, 3)):
        AuditEntry.objects.filter(chain=world.chain, sequence=old).update(sequence=new)


@_row(CHAINS, "an entry is missing before it")
def move_entry(world: World) -> None:
    """Move an entry to another person's chain."""
    last = AuditEntry.objects.filter(chain=world.bens_chain).count()
    AuditEntry.objects.filter(chain=world.chain, sequence=2).update(chain=world.bens_chain, sequence=last + 1)


@_row(CHAINS, "its facts are missing")
def delete_facts(world: World) -> None:
    """Delete facts, and write no entry that says so."""
    AuditFacts.objects.filter(entry=entry_at(world.chain, 2)).delete()


@_row(CHAINS, "its facts are missing")
def erase_more_than_said(world: World) -> None:
    """Delete facts beside the range that an entry says was erased."""
    subject = audit.person_chain(world.ada.user.public_id)
    facts = {"ranges": [[2, 2]]}
    audit.append(chain=subject, kind="erased", actor="system", at=world.live.starts_at, facts=facts)
    AuditFacts.objects.filter(entry__in=entries_of(world.chain, sequence__in=(2, 3))).delete()


@_row(CHAINS, "its facts are not what was written")
def swap_salts(world: World) -> None:
    """Swap the salts of two entries."""
    one, other = entry_at(world.chain, 2).kept, entry_at(world.chain, 3).kept
    AuditFacts.objects.filter(pk=one.pk).update(salt=other.salt)
    AuditFacts.objects.filter(pk=other.pk).update(salt=one.salt)


@_row(CHAINS, "the chain has no head")
def drop_head(world: World) -> None:
    """Delete the row that says where a chain stands."""
    AuditHead.objects.filter(chain=world.chain).delete()


@_row(CHAINS, "the chain ends before its head")
def rewind_head(world: World) -> None:
    """Let that row say that the chain ends earlier."""
    earlier = entry_at(world.chain, 3)
    AuditHead.objects.filter(chain=world.chain).update(sequence=3, entry_hash=earlier.entry_hash)


@_row(CHAINS, "nobody knows whose chain this is")
def disown_chain(world: World) -> None:
    """Forget whose chain a chain is."""
    AuditChain.objects.filter(chain=world.chain).delete()


# --- Rows, with chains left as they are, or made flawless -------------------------------------------------------------
@_row(ROWS, "no entry tells of the grant")
def swap_chains(world: World) -> None:
    """Give two people each other's chains."""
    ada, ben = (audit.person_chain(vault.user.public_id) for vault in (world.ada, world.ben))
    for chain, subject in ((world.chain, "person:aside"), (world.bens_chain, ada), (world.chain, ben)):
        name = chain if subject != ben else AuditChain.objects.get(subject="person:aside").chain
        AuditChain.objects.filter(chain=name).update(subject=subject)


@_row(ROWS, "says another approved_attributes")
def widen_grant(world: World) -> None:
    """Widen a grant by an attribute."""
    _set(world.live, approved_attributes=[*world.live.approved_attributes, DIET])


@_row(ROWS, "says another expires_at")
def lengthen_grant(world: World) -> None:
    """Lengthen a grant."""
    _set(world.live, expires_at=world.live.expires_at + timedelta(days=30))


@_row(ROWS, "says another starts_at")
def predate_grant(world: World) -> None:
    """Let a grant begin earlier."""
    _set(world.live, starts_at=world.live.starts_at - timedelta(days=30))


@_row(ROWS, "says another max_reads")
def allow_more_reads(world: World) -> None:
    """Allow more reads than were agreed to."""
    _set(world.live, max_reads=5000)


@_row(ROWS, "and it tells that it is revoked")
def resurrect_grant(world: World) -> None:
    """Let an ended grant live again."""
    _set(world.stopped, status="active", ended_at=None, ended_by="")


@_row(ROWS, "and it tells that it is paused")
def resume_silently(world: World) -> None:
    """Resume a grant that the person holds back."""
    _set(world.paused, status="active")


@_row(ROWS, "no entry tells that")
def end_silently(world: World) -> None:
    """End a grant in the person's name."""
    _set(world.live, status="revoked", ended_at=world.live.starts_at, ended_by="person")


@_row(ROWS, "says another end")
def date_end_later(world: World) -> None:
    """Date the end of a grant later than it was."""
    _set(world.stopped, ended_at=world.stopped.expires_at)


@_row(ROWS, "says another end")
def blame_another(world: World) -> None:
    """Say that somebody else ended a grant."""
    _set(world.stopped, ended_by="app")


@_row(ROWS, "is not of the app, person and scope that were asked")
def give_grant_away(world: World) -> None:
    """Give a grant to another app."""
    other = world.stopped.app_id
    Grant.objects.filter(pk=world.stopped.pk).update(app=world.shop, scope="attr.lifestyle.fitness.*")
    _set(world.live, app_id=other)


@_row(ROWS, "is not what its digest was made over")
def rewrite_purpose(world: World) -> None:
    """Rewrite the purpose for which something was approved."""
    ConsentRequest.objects.filter(pk=world.live.request_id).update(purpose="Sell it to whoever pays for it")


@_row(ROWS, "says another request_digest")
def rewrite_purpose_and_digest(world: World) -> None:
    """Rewrite the purpose and the digest over it."""
    _ask_otherwise(world.live.request, purpose="Sell it to whoever pays for it")


@_row(ROWS, "is not what its digest was made over")
def change_recipient_key(world: World) -> None:
    """Let an approval name another key than it was sealed to."""
    ConsentRequest.objects.filter(pk=world.live.request_id).update(connector_thumbprint="A" * 43)


@_row(ROWS, "says another user_id")
def move_request(world: World) -> None:
    """Say that an approval was another person's."""
    ConsentRequest.objects.filter(pk=world.stopped.request_id).update(user=world.ben.user)


@_row(ROWS, "and it tells that it is denied")
def undeny(world: World) -> None:
    """Turn a denial into an approval."""
    ConsentRequest.objects.filter(pk=world.denied.pk).update(status="approved")


@_row(ROWS, "no entry tells that")
def decide_silently(world: World) -> None:
    """Deny in the person's name what waits."""
    ConsentRequest.objects.filter(pk=world.waiting.pk).update(
        status="denied", decided_at=world.waiting.created_at, decided_by="person"
    )


@_row(ROWS, "no entry tells of the grant")
def forge_grant(world: World) -> None:
    """Forge a grant for a request that waits."""
    _forge_grant(world.waiting)


@_row(ROWS, "has a grant it does not tell of")
def forge_grant_of_denied(world: World) -> None:
    """Forge a grant for a request that was denied."""
    ConsentRequest.objects.filter(pk=world.stopped.request_id)  # the shop's own scope is taken by the live one
    _set(world.live, scope="attr.lifestyle.fitness.*")
    _forge_grant(world.denied, status=None)


@_row(ROWS, "there is no such request")
def delete_request(world: World) -> None:
    """Delete a denied request with everything that hangs on it."""
    Notice.objects.filter(request=world.denied).delete()
    Receipt.objects.filter(request=world.denied).delete()
    run_sql("DELETE FROM consent_requests WHERE id = %s", world.denied.pk)


@_row(ROWS, "there is no such grant")
def delete_grant(world: World) -> None:
    """Delete a grant and what was read of it."""
    Read.objects.filter(grant=world.stopped).delete()
    Export.objects.filter(grant=world.stopped).delete()
    run_sql("DELETE FROM consent_grants WHERE id = %s", world.stopped.pk)


# --- Receipts ---------------------------------------------------------------------------------------------------------
@_row(ROWS, "there is no such receipt")
def delete_receipt(world: World) -> None:
    """Delete a receipt."""
    Receipt.objects.filter(request=world.denied).delete()


@_row(ROWS, "says something else")
def swap_receipts(world: World) -> None:
    """Swap the texts of two receipts."""
    one, other = Receipt.objects.filter(event="approved").order_by("pk")[:2]
    Receipt.objects.filter(pk=one.pk).update(jws=other.jws, app_jws=other.app_jws)
    Receipt.objects.filter(pk=other.pk).update(jws=one.jws, app_jws=one.app_jws)


@_row(ROWS, "is of something else")
def relabel_receipt(world: World) -> None:
    """Say that a receipt is of another event."""
    Receipt.objects.filter(request=world.denied).update(event="cancelled")


@_row(ROWS, "says something else")
def sign_receipt_again(world: World) -> None:
    """With the receipt key: sign a receipt again that says another purpose."""
    entry = entry_about(world.chain, world.live.request.request_id, "approved")
    sign_again(entry, purpose="Sell it to whoever pays for it")


@_row(ROWS, "no entry tells of the receipt")
def forge_receipt(world: World) -> None:
    """With the receipt key: sign a receipt of something that never was."""
    first = Receipt.objects.get(request=world.live.request)
    claims = {**(receipts.verified(first.jws) or {}), "receipt_id": receipts.new_receipt_id()}
    event = {**claims["event"], "type": "terminated"}
    receipts.signed(
        claims={**claims, "event": event}, request_pk=first.request_id, entry=claims["audit"], at=first.created_at
    ).save()


@_row(ROWS, "the signature of the receipt")
def spoil_receipt(world: World) -> None:
    """Change a letter of a receipt."""
    kept = Receipt.objects.get(request=world.denied)
    head, payload, signature = kept.jws.split(".")
    other = "A" if payload[20] != "A" else "B"
    Receipt.objects.filter(pk=kept.pk).update(jws=f"{head}.{payload[:20]}{other}{payload[21:]}.{signature}")


@_row(ROWS, "says something else")
def swap_copies(world: World) -> None:
    """Give the person the app's copy of a receipt."""
    Receipt.objects.filter(request=world.denied).update(jws=F("app_jws"))


# --- Reads ------------------------------------------------------------------------------------------------------------
@_row(ROWS, "the reads that it holds are not as they were")
def move_read_elsewhere(world: World) -> None:
    """Say that a read came from another network."""
    Read.objects.filter(pk=world.reads()[0].pk).update(address_prefix="198.51.100.0/24")


@_row(ROWS, "the reads that it holds are not as they were")
def blame_token(world: World) -> None:
    """Say that a read was made with another token."""
    Read.objects.filter(pk=world.reads()[0].pk).update(token=TokenFactory(app=world.shop))


@_row(ROWS, "the reads that it holds are not as they were")
def date_read(world: World) -> None:
    """Date a read half a second later."""
    Read.objects.filter(pk=world.reads()[0].pk).update(at=F("at") + timedelta(milliseconds=500))


@_row(ROWS, "the reads that it holds are not as they were")
def delete_read(world: World) -> None:
    """Delete a read."""
    Read.objects.filter(pk=world.reads()[0].pk).delete()
    _set(world.live, reads=2)


@_row(ROWS, "the reads that it holds are not as they were")
def unchain_read(world: World) -> None:
    """Say that no entry holds a read yet."""
    Read.objects.filter(pk=world.reads()[0].pk).update(batch="")


@_row(ROWS, "the reads that it holds are not as they were")
def read_of_another_grant(world: World) -> None:
    """Say that a read was of another grant."""
    Read.objects.filter(pk=world.reads()[0].pk).update(grant=world.paused)


@_row(ROWS, "and the entries hold")
def insert_read(world: World) -> None:
    """Insert a read that says some entry holds it."""
    read = world.reads()[0]
    read.pk, read.batch = None, "A" * 43
    read.save(force_insert=True)
    _set(world.live, reads=4)


@_row(ROWS, "times, and there are")
def recount_reads(world: World) -> None:
    """Let a grant say that it was read less often."""
    _set(world.live, reads=1)


# --- What apps were told ----------------------------------------------------------------------------------------------
@_row(ROWS, "what the app was told goes from number")
def delete_notice(world: World) -> None:
    """Delete what an app was told."""
    run_sql("DELETE FROM consent_notices WHERE id = %s", _notices(world)[0].pk)


@_row(ROWS, "of what it was told is not of")
def widen_notice(world: World) -> None:
    """Say that an app was told of more than was approved."""
    notice = _notices(world)[0]
    grant = {**notice.facts["grant"], "approved_attributes": [DIET]}
    Notice.objects.filter(pk=notice.pk).update(facts={**notice.facts, "grant": grant})


@_row(ROWS, "of what it was told is not of")
def swap_notice(world: World) -> None:
    """Say that an app was told of another person."""
    notice = _notices(world)[0]
    facts = {**notice.facts, "user_id": world.ben.user.public_id}
    Notice.objects.filter(pk=notice.pk).update(facts=facts)


# --- Chains made flawless again, and something forgotten --------------------------------------------------------------
@_row(ROWS, "is revoked")
def forget_revocation(world: World) -> None:
    """Cut a revocation out of the person's chain and hash the rest again."""
    drop(entries_of(world.chain, kind="revoked"))
    rehash(world.chain, resign=True)


@_row(ROWS, "and its chain tells of")
def cut_apps_chain(world: World) -> None:
    """Cut a denial out of the app's chain and hash the rest again."""
    drop(entries_of(world.shops_chain, kind="denied"))
    rehash(world.shops_chain)


@_row(ROWS, "and the entries hold")
def forget_batch(world: World) -> None:
    """Cut the reads out of the person's chain and hash the rest again."""
    drop(entries_of(world.chain, kind="reads"))
    rehash(world.chain, resign=True)


@_row(ROWS, "no entry tells that")
def erase_chain_alone(world: World) -> None:
    """Erase a person's whole chain, as if it had never begun."""
    _forget_chain(world.chain)


@_row(ROWS, "there is no such request")
def erase_person_and_rows(world: World) -> None:
    """Erase a person's chain and every row about them."""
    _forget_chain(world.chain)
    _forget_rows(world)


@_row(ROWS, "there is no such receipt")
def roll_person_back(world: World) -> None:
    """Roll one person back to before a denial, and leave the app's chain."""
    drop(entries_of(world.chain, kind="denied"))
    rehash(world.chain, resign=True)
    Notice.objects.filter(request=world.denied).delete()
    Receipt.objects.filter(request=world.denied).delete()
    ConsentRequest.objects.filter(pk=world.denied.pk).update(status="pending", decided_at=None, decided_by="")


# --- All of it made to fit: only who kept something of before can tell ------------------------------------------------
@_row(LOG)
def roll_back_everywhere(world: World) -> None:
    """Roll a denial back in both chains, hash both again, and put every row back."""
    for chain in (world.chain, world.shops_chain):
        drop(entries_of(chain, kind="denied"))
        rehash(chain, resign=chain == world.chain)
    Notice.objects.filter(request=world.denied).delete()
    Receipt.objects.filter(request=world.denied).delete()
    ConsentRequest.objects.filter(pk=world.denied.pk).update(status="pending", decided_at=None, decided_by="")


@_row(LOG)
def fork_history(world: World) -> None:
    """With the receipt key: another history for one person, other salts and hashes, receipts signed again."""
    rehash(world.chain, resign=True)


@_row(LOG)
def widen_everywhere(world: World) -> None:
    """With the receipt key: widen a grant, and let both chains, hashed again, and the receipt tell of it."""
    attributes = [*world.live.approved_attributes, DIET]
    _set(world.live, approved_attributes=attributes)
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
        rehash(chain, resign=chain == world.chain)


@_row(LOG)
def move_read_everywhere(world: World) -> None:
    """Say that a read came from another network, and let the person's chain, hashed again, hold that."""
    Read.objects.filter(pk=world.reads()[0].pk).update(address_prefix="198.51.100.0/24")
    entry = entries_of(world.chain, kind="reads").get()
    there = list(Read.objects.filter(batch=entry.facts["batch"]).order_by("pk").values(*COLUMNS))
    batch = batch_hash(there, entry.facts["salt"])
    Read.objects.filter(batch=entry.facts["batch"]).update(batch=batch)
    retell(entry, batch=batch)
    rehash(world.chain, resign=True)


@_row(LOG)
def forget_person_everywhere(world: World) -> None:
    """Erase a person, every row about them, and every entry of every app's chain that tells of them."""
    person = world.ada.user.public_id
    apps = AuditChain.objects.filter(subject__startswith=audit.app_chain("")).values_list("chain", flat=True)
    _forget_chain(world.chain)
    _forget_rows(world)
    for chain in apps:
        drop(entries_of(chain, kept__about=person))
        rehash(chain)


@_row(LOG)
def forget_that_staff_looked(world: World) -> None:
    """Forget that staff looked at somebody's records, and hash the rest again."""
    subject = audit.person_chain(world.ada.user.public_id)
    audit.append(chain=subject, kind="staff_viewed", actor="staff", at=world.live.starts_at, facts={"what": "grants"})
    drop(entries_of(world.chain, kind="staff_viewed"))
    rehash(world.chain, resign=True)


@_row(APPROVAL)
def approve_by_own_code(world: World) -> None:
    """With the receipt key: approve in a person's name, with entries, receipt and notice as they should be."""
    _forge_grant(world.waiting)
    request = ConsentRequest.objects.select_related("app__application", "user", "scope_entry").get(pk=world.waiting.pk)
    grant = Grant.objects.get(request=request)
    record(
        request=request, grant=facts_of(grant), event=EventType.APPROVED, actor=Actor.PERSON, at=grant.starts_at,
        facts={"approved_attributes": grant.approved_attributes},
    )  # fmt: skip


@_row(APP)
def ask_for_another_purpose(world: World) -> None:
    """Change the purpose and the digest of a request that waits."""
    _ask_otherwise(world.waiting, purpose="Suggest something quite different")


# --- The tools --------------------------------------------------------------------------------------------------------
def _set(grant: Grant, **values: object) -> None:
    Grant.objects.filter(pk=grant.pk).update(**values)


def _ask_otherwise(request: ConsentRequest, **asked: object) -> None:
    ConsentRequest.objects.filter(pk=request.pk).update(**asked)
    there = ConsentRequest.objects.select_related("app", "user").get(pk=request.pk)
    members = digest.asked(there, app_id=there.app.app_id, user_id=there.user.public_id)
    ConsentRequest.objects.filter(pk=request.pk).update(request_digest=sha256_canonical(members))


def _forge_grant(request: ConsentRequest, status: str | None = "approved") -> None:
    start = request.created_at
    if status:
        ConsentRequest.objects.filter(pk=request.pk).update(status=status, decided_at=start, decided_by="person")
    Grant.objects.create(
        grant_id=new_identifier("grt"), request=request, app_id=request.app_id, user_id=request.user_id,
        scope=request.scope, approved_attributes=request.attributes, starts_at=start,
        expires_at=start + timedelta(seconds=request.access_duration), max_reads=request.max_reads,
    )  # fmt: skip


def _forget_chain(chain: str) -> None:
    drop(entries_of(chain))
    AuditHead.objects.filter(chain=chain).delete()
    AuditChain.objects.filter(chain=chain).delete()


def _forget_rows(world: World) -> None:
    person = world.ada.user.pk
    asked = "(SELECT id FROM consent_requests WHERE user_id = %s)"
    granted = "(SELECT id FROM consent_grants WHERE user_id = %s)"
    run_sql(f"DELETE FROM consent_reads WHERE grant_id IN {granted}", person)
    run_sql(f"DELETE FROM consent_exports WHERE grant_id IN {granted}", person)
    run_sql("DELETE FROM consent_grants WHERE user_id = %s", person)
    for table in ("consent_receipts", "consent_notices", "consent_mails"):
        run_sql(f"DELETE FROM {table} WHERE request_id IN {asked}", person)
    run_sql("DELETE FROM consent_requests WHERE user_id = %s", person)
    for number, notice in enumerate(Notice.objects.filter(app=world.shop).order_by("pk"), start=1):
        Notice.objects.filter(pk=notice.pk).update(sequence=number, facts={**notice.facts, "sequence": number})


def _notices(world: World) -> list[Notice]:
    return list(Notice.objects.filter(request=world.live.request).order_by("pk"))
