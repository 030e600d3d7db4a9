"""What is written down about requests and grants, and what people think of apps."""

import base64
from typing import Any

import factory
from django.db.models import F

from common.identifiers import new_identifier
from consent.decisions.models import AppReport, BlockedApp, ReportNote, ReportStatus, ScopeWithdrawal
from consent.discovery.models import DirectoryFind, Discovery
from consent.ledger import audit, receipts
from consent.ledger.models import (
    AuditChain,
    AuditEntry,
    AuditFacts,
    AuditHead,
    AuditPending,
    LogQueue,
    Receipt,
)
from consent.log import keys, notes
from consent.log.models import AuditCheckpoint, LogLeaf, LogState, LogTile
from consent.mail.models import Mail, MailKind
from consent.notices.models import Notice, NoticeCounter, WebhookDelivery
from consent.requests import receipt_claims
from consent.requests.models import ScopeTemplate
from consent.states import RequestStatus
from pkm.registry.models import ScopeEntry
from tests.factories.accounts import PersonFactory, StaffFactory
from tests.factories.consent_requests import FOOD, ConsentRequestFactory, now
from tests.factories.developers import AppFactory, WebhookEndpointFactory
from tests.factories.making import makes

SALT = b"s" * 32


class AuditChainFactory(makes(AuditChain)):
    subject = factory.LazyFunction(lambda: audit.person_chain(new_identifier("usr")))


class AuditEntryFactory(makes(AuditEntry)):
    """The first entry of a chain of its own, with the hash that verifies. It tells nothing."""

    class Meta:
        skip_postgeneration_save = True

    chain = factory.LazyFunction(lambda: AuditChainFactory().chain)
    sequence = 1
    prev_hash = audit.GENESIS
    kind = "denied"
    actor = "person"
    at = factory.LazyFunction(now)
    facts_hash = factory.LazyFunction(lambda: audit.facts_hash({}, SALT))
    entry_hash = factory.LazyAttribute(
        lambda made: audit.entry_hash(
            chain=made.chain, sequence=made.sequence, prev_hash=made.prev_hash, kind=made.kind, actor=made.actor,
            at=made.at, facts_hash=made.facts_hash,
        )
    )  # fmt: skip
    kept = factory.RelatedFactory("tests.factories.history.AuditFactsFactory", "entry")


class AuditFactsFactory(makes(AuditFacts)):
    """The facts of an entry of their own."""

    entry = factory.SubFactory(AuditEntryFactory, kept=None)
    salt = SALT
    facts = factory.LazyFunction(dict)


class AuditPendingFactory(makes(AuditPending)):
    """A denial whose entry in the person's chain waits to be written."""

    request = factory.SubFactory(ConsentRequestFactory, status=RequestStatus.DENIED)
    chain = factory.LazyAttribute(lambda made: audit.person_chain(made.request.user.public_id))
    kind = "denied"
    actor = "person"
    at = factory.LazyFunction(now)
    facts = factory.LazyFunction(dict)


class AuditHeadFactory(makes(AuditHead)):
    """The head of a chain that has nothing in it yet."""

    chain = factory.LazyFunction(lambda: audit.person_chain(new_identifier("usr")))


def _count_checkpoint() -> int:
    LogState.objects.update(signed=F("signed") + 1)
    return LogState.objects.values_list("signed", flat=True).get()


class AuditCheckpointFactory(makes(AuditCheckpoint)):
    """A checkpoint that was signed over leaves which nobody has."""

    number = factory.LazyFunction(lambda: _count_checkpoint())
    size = factory.Sequence(lambda number: number + 1)
    root = factory.LazyFunction(lambda: audit.sha256_canonical([]))
    note = factory.LazyAttribute(
        lambda made: notes.signed(
            notes.Checkpoint(keys.origin(), made.size, base64.urlsafe_b64decode(made.root + "=")), keys.signing_keys()
        )
    )
    at = factory.LazyFunction(now)
    cosigned_at = factory.SelfAttribute("at")


class LogQueueFactory(makes(LogQueue)):
    entry = factory.SubFactory(AuditEntryFactory)


class LogLeafFactory(makes(LogLeaf)):
    """A leaf whose entry a restore lost, beyond all that the log has."""

    log_index = factory.Sequence(lambda number: 1_000_000 + number)
    entry_hash = b"e" * 32


class LogTileFactory(makes(LogTile)):
    level = 0
    number = factory.Sequence(lambda number: 10_000 + number)
    hashes = b"h" * 8192


class LogStateFactory(makes(LogState)):
    """The one row, which is there."""

    class Meta:
        django_get_or_create = ("id",)

    id = 1


def _claims(made: Any) -> dict[str, Any]:
    """What both copies say."""
    facts = {"request": made.request, "event": str(made.event), "receipt_id": made.receipt_id}
    return receipt_claims.claims_about(**facts, grant=None, happened=made.created_at, at=made.created_at)


def _signed(made: Any) -> Receipt:
    entry = {"entry_hash": "x" * 43}
    signing = {"claims": _claims(made), "request_pk": made.request.pk, "at": made.created_at}
    return receipts.signed(**signing, entry=entry, app_entry=entry)


class ReceiptFactory(makes(Receipt)):
    """The signed receipt of a denial, in both copies, whose entries are in no chain."""

    class Params:
        signed = factory.LazyAttribute(_signed)

    receipt_id = factory.LazyFunction(receipts.new_receipt_id)
    request = factory.SubFactory(ConsentRequestFactory, status=RequestStatus.DENIED)
    event = factory.SelfAttribute("request.status")
    created_at = factory.LazyFunction(now)
    kid = factory.SelfAttribute("signed.kid")
    claims = factory.SelfAttribute("signed.claims")
    audit = factory.SelfAttribute("signed.audit")
    app_audit = factory.SelfAttribute("signed.app_audit")
    signature = factory.SelfAttribute("signed.signature")
    app_signature = factory.SelfAttribute("signed.app_signature")


class NoticeCounterFactory(makes(NoticeCounter)):
    app = factory.SubFactory(AppFactory)


class NoticeFactory(makes(Notice)):
    request = factory.SubFactory(ConsentRequestFactory, status=RequestStatus.DENIED)
    app = factory.SelfAttribute("request.app")
    sequence = factory.Sequence(lambda number: number + 1)
    kind = "consent.denied"
    facts = factory.LazyAttribute(lambda made: {"request_id": made.request.request_id, "status": "denied"})
    at = factory.LazyFunction(now)


class DiscoveryFactory(makes(Discovery)):
    app = factory.SubFactory(AppFactory)
    user = factory.SubFactory(PersonFactory)
    first_at = factory.LazyFunction(now)
    last_at = factory.SelfAttribute("first_at")
    day = factory.LazyAttribute(lambda made: made.first_at.date())


class DirectoryFindFactory(makes(DirectoryFind)):
    app = factory.SubFactory(AppFactory)
    user = factory.SubFactory(PersonFactory)
    at = factory.LazyFunction(now)
    day = factory.LazyAttribute(lambda made: made.at.date())


class BlockedAppFactory(makes(BlockedApp)):
    user = factory.SubFactory(PersonFactory)
    app = factory.SubFactory(AppFactory)


class ScopeWithdrawalFactory(makes(ScopeWithdrawal)):
    """A withdrawal whose work is not done yet; there was nothing when it took place."""

    scope_entry = factory.LazyFunction(lambda: ScopeEntry.objects.get(scope=FOOD))
    by = factory.SubFactory(StaffFactory)
    at = factory.LazyFunction(now)


class AppReportFactory(makes(AppReport)):
    user = factory.SubFactory(PersonFactory)
    app = factory.SubFactory(AppFactory)
    text = "It asks again and again."


class MailFactory(makes(Mail)):
    request = factory.SubFactory(ConsentRequestFactory)
    kind = MailKind.REQUEST
    sent_at = factory.LazyFunction(now)


class WebhookDeliveryFactory(makes(WebhookDelivery)):
    """A notice that waits to be sent."""

    notice = factory.SubFactory(NoticeFactory)
    endpoint = factory.LazyAttribute(lambda made: WebhookEndpointFactory(app=made.notice.app))
    next_at = factory.LazyFunction(now)


class ScopeTemplateFactory(makes(ScopeTemplate)):
    """A template that waits for a second member of staff; `agreed=True` makes it active."""

    class Params:
        agreed = factory.Trait(
            approved_by=factory.SubFactory(StaffFactory), approved_at=factory.LazyFunction(now), active=True
        )

    template_id = factory.Sequence(lambda number: f"food-{number}")
    name = "Food and drink"
    scope = FOOD
    purpose = "Suggest restaurants that you would like"
    proposed_by = factory.SubFactory(StaffFactory)


class ReportNoteFactory(makes(ReportNote)):
    report = factory.SubFactory(AppReportFactory)
    status = ReportStatus.OPEN
    by = factory.SubFactory(StaffFactory)
    note = "Asked the developer what they do with it"
    at = factory.LazyFunction(now)
