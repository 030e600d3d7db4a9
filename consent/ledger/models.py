"""The audit chain and the receipts. No foreign keys in a chain or the log, so that history outlives its subjects."""

from typing import Any, Self

from django.db import models
from django.db.models import Index, Q, UniqueConstraint
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.staff_values import kind_in_words
from common.constraints import check
from common.identifiers import new_identifier
from common.jose import base64url

RECEIPT_TYPE = "consent-receipt+jwt"


def new_pending_id() -> str:
    return new_identifier("pnd")


def new_chain_id() -> str:
    return new_identifier("chn")


class AuditChain(models.Model):
    """Whose chain a chain is. Only erasure takes a row away; then its entries are nobody's, and verifiable as before.

    `subject` is `person:<user_id>` or `app:<app_id>`.
    """

    chain = models.CharField(max_length=80, primary_key=True, default=new_chain_id)
    subject = models.CharField(max_length=80, unique=True)

    class Meta:
        db_table = "audit_chains"


class Entries(models.QuerySet["AuditEntry"]):
    """Entries with what they tell."""

    def of(self, subject: str) -> Self:
        """Those of one person's or app's chain."""
        return self.filter(chain__in=AuditChain.objects.filter(subject=subject).values("chain"))

    def with_facts(self, **facts: Any) -> Self:
        """Those whose facts have these members."""
        return self.filter(**{f"kept__facts__{name}": value for name, value in facts.items()})


class AuditEntry(models.Model):
    """One link of one chain; hashes are base64url SHA-256. What it tells stands in `AuditFacts`."""

    chain = models.CharField(_("chain"), max_length=80)
    sequence = models.PositiveIntegerField(_("number"))
    prev_hash = models.CharField(max_length=43, blank=True)
    entry_hash = models.CharField(max_length=43)
    kind = models.CharField(_("what"), max_length=40)
    actor = models.CharField(_("by"), max_length=80)
    at = models.DateTimeField(_("when"))
    facts_hash = models.CharField(max_length=43)

    objects = Entries.as_manager()

    class Meta:
        db_table = "consent_audit"
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        constraints = [
            UniqueConstraint(fields=["chain", "sequence"], name="consent_audit_sequence"),
            check("consent_audit_facts_hash", ~Q(facts_hash="")),
        ]
        indexes = [
            Index(
                fields=["chain", "sequence"],
                condition=Q(kind="connector_key_removed"),
                name="consent_audit_keys_removed",
            )
        ]

    def __str__(self) -> str:
        return f"{kind_in_words(self.kind)} #{self.sequence}"

    @property
    def facts(self) -> dict[str, Any]:
        """What it tells; empty once that was erased. Ask for `kept` with the entries, where several are read."""
        kept: AuditFacts | None = getattr(self, "kept", None)
        return kept.facts if kept is not None else {}


class AuditFacts(models.Model):
    """What an entry tells, with the salt of its hash; apart, so that erasing it leaves the chain verifiable."""

    entry = models.OneToOneField(AuditEntry, on_delete=models.PROTECT, primary_key=True, related_name="kept")
    salt = models.BinaryField(max_length=32)
    facts = models.JSONField()
    about = models.CharField(max_length=80, blank=True)  # the user_id of the person, as the chain's subject calls them

    class Meta:
        db_table = "audit_facts"
        indexes = [Index(fields=["about"], name="audit_facts_about")]


class AuditHead(models.Model):
    """The newest link of a chain; its row lock orders the appends."""

    chain = models.CharField(max_length=80, primary_key=True)
    sequence = models.PositiveIntegerField(default=0)
    entry_hash = models.CharField(max_length=43, blank=True)

    class Meta:
        db_table = "consent_audit_heads"


class AuditPending(models.Model):
    """An entry of something that protects a person and that took place while its chain could not be written.

    The next append to the chain writes it first, with its receipt, whose claims are kept as they were then.
    """

    pending_id = models.CharField(max_length=64, unique=True, default=new_pending_id)
    chain = models.CharField(max_length=80)  # the chain's subject: a chain that is new has no other name yet
    kind = models.CharField(max_length=40)
    actor = models.CharField(max_length=80)
    at = models.DateTimeField()
    facts = models.JSONField()
    request = models.ForeignKey(
        "consent.ConsentRequest", on_delete=models.PROTECT, null=True, related_name="pending_entries"
    )
    receipt = models.JSONField(null=True)

    class Meta:
        db_table = "audit_pending"
        constraints = [check("audit_pending_receipt_of_request", Q(receipt__isnull=True) | Q(request__isnull=False))]
        indexes = [Index(fields=["chain", "id"], name="audit_pending_of_chain")]


class LogQueue(models.Model):
    """An entry that the log has not taken yet.

    The key is the entry's own, drawn under its chain's head's lock: where an entry is to be seen, so is every earlier
    one of its chain. The server only ever adds; the sequencer takes away.
    """

    entry = models.OneToOneField(
        AuditEntry, on_delete=models.PROTECT, primary_key=True, db_constraint=False, related_name="queued"
    )
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "consent_log_queue"


class Receipt(models.Model):
    """Proof of one event, as the person gets it (`jws`) and as the app gets it (`app_jws`, without their chain).

    Both are signed over `claims` and differ in the last member, `audit`: the texts are kept as they were signed, JSON.
    """

    receipt_id = models.CharField(max_length=64)
    request = models.ForeignKey(
        "consent.ConsentRequest", on_delete=models.PROTECT, related_name="receipts", db_index=False
    )
    event = models.CharField(max_length=16)
    kid = models.CharField(max_length=43)
    claims = models.TextField()
    audit = models.TextField()
    app_audit = models.TextField()
    signature = models.CharField(max_length=86)
    app_signature = models.CharField(max_length=86)
    created_at = models.DateTimeField()

    class Meta:
        db_table = "consent_receipts"
        constraints = [
            UniqueConstraint(fields=["receipt_id"], name="consent_receipt_id_once"),
            UniqueConstraint(fields=["request", "event"], name="consent_receipt_once"),
        ]
        indexes = [Index(fields=["request", "-id"], name="consent_receipt_newest")]

    def __str__(self) -> str:
        return self.receipt_id

    @property
    def jws(self) -> str:
        return f"{self.signing_input(self.audit)}.{self.signature}"

    @property
    def app_jws(self) -> str:
        return f"{self.signing_input(self.app_audit)}.{self.app_signature}"

    def signing_input(self, audit: str) -> str:
        """Header and payload of the copy with this `audit`, as RFC 7515 signs them."""
        header = f'{{"alg":"EdDSA","typ":"{RECEIPT_TYPE}","kid":"{self.kid}"}}'
        payload = f'{self.claims[:-1]},"audit":{audit}}}'
        return f"{base64url(header.encode())}.{base64url(payload.encode())}"
