"""What is done to the chains alone, and to the rows beside chains that hold."""

from datetime import timedelta

from django.db.models import F

from consent.exports.models import Export, Read
from consent.grants.models import Grant
from consent.ledger import audit, receipts
from consent.ledger.models import AuditChain, AuditEntry, AuditFacts, AuditHead, Receipt
from consent.notices.models import Notice
from consent.requests.models import ConsentRequest
from tests.consent.verification.chains_forged import (
    drop,
    entries_of,
    entry_about,
    entry_at,
    retell,
    run_sql,
    sign_again,
    texts_of,
)
from tests.consent.verification.rows_forged import ask_otherwise, forge_grant, live, paused, second, set_grant, stopped
from tests.consent.verification.table import CHAINS, ROWS, row, rows
from tests.consent.verification.world import CUISINE, DIET, World

# --- The chains alone -------------------------------------------------------------------------------------------------
rows(
    CHAINS,
    ("Rewrite what an entry says happened", "entry 2: it is not what was written", second(kind="denied")),
    ("Rewrite when it happened", "entry 2: it is not what was written", second(at=F("at") + timedelta(seconds=1))),
    ("Rewrite who did it", "entry 2: it is not what was written", second(actor="staff")),
)


@row(CHAINS, "entry 2: its facts are not what was written")
def rewrite_facts(world: World) -> None:
    """Rewrite the facts of an entry."""
    retell(entry_at(world.chain, 2), scope="attr.lifestyle.*")


@row(CHAINS, "entry 3: it does not follow the entry before it")
def rewrite_and_hash(world: World) -> None:
    """Rewrite the facts of an entry and hash it again."""
    entry = entry_at(world.chain, 2)
    facts = {**entry.facts, "reason": "none"}
    AuditFacts.objects.filter(entry=entry).update(facts=facts)
    fields = {name: getattr(entry, name) for name in ("chain", "sequence", "prev_hash", "kind", "actor", "at")}
    hashed = audit.facts_hash(facts, bytes(entry.kept.salt))
    AuditEntry.objects.filter(pk=entry.pk).update(
        facts_hash=hashed, entry_hash=audit.entry_hash(**fields, facts_hash=hashed)
    )


@row(CHAINS, "entry 3: an entry is missing before it")
def delete_entry(world: World) -> None:
    """Delete an entry."""
    drop(entries_of(world.chain, sequence=3))


@row(CHAINS, "entry 4: the chain ends before its head")
def cut_tail(world: World) -> None:
    """Cut off the newest entries."""
    drop(entries_of(world.chain, sequence__gte=4))


@row(CHAINS, "entry 1: the chain ends before its head")
def truncate(world: World) -> None:
    """Delete all entries of a person."""
    drop(entries_of(world.chain))


@row(CHAINS, "entry 4: it does not follow the entry before it")
def insert_entry(world: World) -> None:
    """Insert an entry between two others."""
    entries = list(entries_of(world.chain, sequence__gte=3))
    for entry in reversed(entries):
        AuditEntry.objects.filter(pk=entry.pk).update(sequence=entry.sequence + 1)
    copy = entry_at(world.chain, 4)
    copy.pk, copy.sequence = None, 3
    copy.save(force_insert=True)


@row(CHAINS, "entry 2: it does not follow the entry before it")
def reorder(world: World) -> None:
    """Swap two entries."""
    for old, new in ((2, 1000), (3, 2), (1000, 3)):
        AuditEntry.objects.filter(chain=world.chain, sequence=old).update(sequence=new)


@row(CHAINS, "entry 2: an entry is missing before it")
def move_entry(world: World) -> None:
    """Move an entry to another person's chain."""
    last = AuditEntry.objects.filter(chain=world.bens_chain).count()
    AuditEntry.objects.filter(chain=world.chain, sequence=2).update(chain=world.bens_chain, sequence=last + 1)


@row(CHAINS, "entry 2: its facts are missing")
def delete_facts(world: World) -> None:
    """Delete facts, and write no entry that says so."""
    AuditFacts.objects.filter(entry=entry_at(world.chain, 2)).delete()


@row(CHAINS, "its facts are missing")
def erase_more_than_recorded(world: World) -> None:
    """Delete facts beside the range that an entry says was erased."""
    subject = audit.person_chain(world.ada.user.public_id)
    facts = {"ranges": [[2, 2]]}
    audit.append(chain=subject, kind="erased", actor="system", at=world.live.starts_at, facts=facts)
    AuditFacts.objects.filter(entry__in=entries_of(world.chain, sequence__in=(2, 3))).delete()


@row(CHAINS, "entry 2: its facts are not what was written")
def swap_salts(world: World) -> None:
    """Swap the salts of two entries."""
    one, other = entry_at(world.chain, 2).kept, entry_at(world.chain, 3).kept
    AuditFacts.objects.filter(pk=one.pk).update(salt=other.salt)
    AuditFacts.objects.filter(pk=other.pk).update(salt=one.salt)


@row(CHAINS, "the chain has no head")
def drop_head(world: World) -> None:
    """Delete the row that says where a chain stands."""
    AuditHead.objects.filter(chain=world.chain).delete()


@row(CHAINS, "the chain ends before its head")
def rewind_head(world: World) -> None:
    """Let that row say that the chain ends earlier."""
    earlier = entry_at(world.chain, 3)
    AuditHead.objects.filter(chain=world.chain).update(sequence=3, entry_hash=earlier.entry_hash)


@row(CHAINS, "nobody knows whose chain this is")
def disown_chain(world: World) -> None:
    """Forget whose chain a chain is."""
    AuditChain.objects.filter(chain=world.chain).delete()


# --- Rows, with chains left as they are, or made flawless -------------------------------------------------------------
@row(ROWS, "no entry tells of the grant")
def swap_chains(world: World) -> None:
    """Give two people each other's chains."""
    ada, ben = (audit.person_chain(vault.user.public_id) for vault in (world.ada, world.ben))
    for chain, subject in ((world.chain, "person:aside"), (world.bens_chain, ada), (world.chain, ben)):
        name = chain if subject != ben else AuditChain.objects.get(subject="person:aside").chain
        AuditChain.objects.filter(chain=name).update(subject=subject)


rows(
    ROWS,
    ("Widen a grant by an attribute", "says another approved_attributes", live(approved_attributes=[CUISINE, DIET])),
    ("Lengthen a grant", "says another expires_at", live(expires_at=F("expires_at") + timedelta(days=30))),
    ("Let a grant begin earlier", "says another starts_at", live(starts_at=F("starts_at") - timedelta(days=30))),
    ("Allow more reads than were agreed to", "says another max_reads", live(max_reads=5000)),
    (
        "Let an ended grant live again",
        "and it tells that it is revoked",
        stopped(status="active", ended_at=None, ended_by=""),
    ),
    ("Resume a grant that the person holds back", "and it tells that it is paused", paused(status="active")),
    (
        "End a grant in the person's name",
        "no entry tells that",
        live(status="revoked", ended_at=F("starts_at"), ended_by="person"),
    ),
    ("Date the end of a grant later than it was", "says another end", stopped(ended_at=F("expires_at"))),
    ("Say that somebody else ended a grant", "says another end", stopped(ended_by="app")),
)


@row(ROWS, "is not of the app, person and scope that were asked")
def give_grant_away(world: World) -> None:
    """Give a grant to another app."""
    other = world.stopped.app_id
    Grant.objects.filter(pk=world.stopped.pk).update(app=world.shop, scope="attr.lifestyle.fitness.*")
    set_grant(world.live, app_id=other)


@row(ROWS, "is not what its digest was made over")
def rewrite_purpose(world: World) -> None:
    """Rewrite the purpose for which something was approved."""
    ConsentRequest.objects.filter(pk=world.live.request_id).update(purpose="Sell it to whoever pays for it")


@row(ROWS, "says another request_digest")
def rewrite_purpose_and_digest(world: World) -> None:
    """Rewrite the purpose and the digest over it."""
    ask_otherwise(world.live.request, purpose="Sell it to whoever pays for it")


@row(ROWS, "is not what its digest was made over")
def change_recipient_key(world: World) -> None:
    """Let an approval name another key than it was sealed to."""
    ConsentRequest.objects.filter(pk=world.live.request_id).update(connector_thumbprint="A" * 43)


@row(ROWS, "says another user_id")
def move_request(world: World) -> None:
    """Say that an approval was another person's."""
    ConsentRequest.objects.filter(pk=world.stopped.request_id).update(user=world.ben.user)


@row(ROWS, "and it tells that it is denied")
def undeny(world: World) -> None:
    """Turn a denial into an approval."""
    ConsentRequest.objects.filter(pk=world.denied.pk).update(status="approved")


@row(ROWS, "no entry tells that")
def decide_silently(world: World) -> None:
    """Deny in the person's name what waits."""
    ConsentRequest.objects.filter(pk=world.waiting.pk).update(
        status="denied", decided_at=world.waiting.created_at, decided_by="person"
    )


@row(ROWS, "no entry tells of the grant")
def forge_grant_row(world: World) -> None:
    """Forge a grant for a request that waits."""
    forge_grant(world.waiting)


@row(ROWS, "has a grant it does not tell of")
def forge_grant_of_denied(world: World) -> None:
    """Forge a grant for a request that was denied."""
    ConsentRequest.objects.filter(pk=world.stopped.request_id)  # the shop's own scope is taken by the live one
    set_grant(world.live, scope="attr.lifestyle.fitness.*")
    forge_grant(world.denied, status=None)


@row(ROWS, "there is no such request")
def delete_request(world: World) -> None:
    """Delete a denied request with everything that hangs on it."""
    Notice.objects.filter(request=world.denied).delete()
    Receipt.objects.filter(request=world.denied).delete()
    run_sql("DELETE FROM consent_requests WHERE id = %s", world.denied.pk)


@row(ROWS, "there is no such grant")
def delete_grant(world: World) -> None:
    """Delete a grant and what was read of it."""
    Read.objects.filter(grant=world.stopped).delete()
    Export.objects.filter(grant=world.stopped).delete()
    run_sql("DELETE FROM consent_grants WHERE id = %s", world.stopped.pk)


# --- Receipts ---------------------------------------------------------------------------------------------------------
@row(ROWS, "there is no such receipt")
def delete_receipt(world: World) -> None:
    """Delete a receipt."""
    Receipt.objects.filter(request=world.denied).delete()


@row(ROWS, "says something else")
def swap_receipts(world: World) -> None:
    """Swap the texts of two receipts."""
    one, other = Receipt.objects.filter(event="approved").order_by("pk")[:2]
    Receipt.objects.filter(pk=one.pk).update(**texts_of(other))
    Receipt.objects.filter(pk=other.pk).update(**texts_of(one))


@row(ROWS, "is of something else")
def relabel_receipt(world: World) -> None:
    """Say that a receipt is of another event."""
    Receipt.objects.filter(request=world.denied).update(event="cancelled")


@row(ROWS, "says something else")
def sign_receipt_again(world: World) -> None:
    """With the receipt key: sign a receipt again that says another purpose."""
    entry = entry_about(world.chain, world.live.request.request_id, "approved")
    sign_again(entry, purpose="Sell it to whoever pays for it")


@row(ROWS, "no entry tells of the receipt")
def forge_receipt(world: World) -> None:
    """With the receipt key: sign a receipt of something that never was."""
    first = Receipt.objects.get(request=world.live.request)
    claims = {**(receipts.verified(first.jws) or {}), "receipt_id": receipts.new_receipt_id()}
    event = {**claims["event"], "type": "terminated"}
    receipts.signed(
        claims={**claims, "event": event}, request_pk=first.request_id, entry=claims["audit"], at=first.created_at
    ).save()


@row(ROWS, "the signature of the receipt")
def spoil_receipt(world: World) -> None:
    """Change a letter of a receipt."""
    kept = Receipt.objects.get(request=world.denied)
    Receipt.objects.filter(pk=kept.pk).update(
        claims=kept.claims.replace('"lawful_basis":"consent"', '"lawful_basis":"content"')
    )


@row(ROWS, "the signature of the receipt")
def rename_key(world: World) -> None:
    """Say that another key signed a receipt."""
    Receipt.objects.filter(request=world.denied).update(kid="A" * 43)


@row(ROWS, "says something else")
def swap_copies(world: World) -> None:
    """Give the person the app's copy of a receipt."""
    Receipt.objects.filter(request=world.denied).update(audit=F("app_audit"), signature=F("app_signature"))
