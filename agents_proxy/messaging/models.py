"""Outbound messages: approved wording, verified recipients, and what became of each message."""

from django.db import models
from django.db.models import F, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from agents_proxy.states import MessageStatus
from common.constraints import all_or_none, check, value_in
from common.identifiers import new_identifier


def new_message_id() -> str:
    return new_identifier("msg")


class PhoneNumber(models.Model):
    """A number that a person says is theirs; `number` is sealed, `digest` keyed. Verified by a code sent to it."""

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="phone_numbers", db_index=False)
    number = models.TextField()
    digest = models.CharField(max_length=64)
    code_digest = models.CharField(max_length=64, blank=True)
    code_expires_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    verified_at = models.DateTimeField(_("verified"), null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "phone_numbers"
        verbose_name = _("phone number")
        verbose_name_plural = _("phone numbers")
        constraints = [
            UniqueConstraint(fields=["user", "digest"], name="phone_number_once"),
            UniqueConstraint(
                fields=["digest"], condition=Q(verified_at__isnull=False), name="phone_number_verified_once"
            ),
            check(
                "phone_number_code_together",
                Q(code_digest="", code_expires_at__isnull=True)
                | (~Q(code_digest="") & Q(code_expires_at__isnull=False)),
            ),
        ]


class OptOut(models.Model):
    """A number, by its keyed digest alone, whose owner wrote that they want no more messages."""

    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "message_opt_outs"


def title_of(name: str) -> str:
    return name.replace("_", " ").capitalize()


class MessageTemplate(models.Model):
    """Wording with `{parameters}`; active only once somebody other than its proposer approved it."""

    name = models.CharField(_("name"), max_length=64)
    language = models.CharField(_("language"), max_length=16)
    version = models.PositiveIntegerField(_("version"), default=1)
    text = models.TextField(_("text"), max_length=2000)
    proposed_by = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, related_name="proposed_message_templates"
    )
    approved_by = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, blank=True, related_name="approved_message_templates"
    )
    approved_at = models.DateTimeField(null=True, blank=True)
    active = models.BooleanField(_("active"), default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "message_templates"
        verbose_name = _("message template")
        verbose_name_plural = _("message templates")
        constraints = [
            UniqueConstraint(fields=["name", "language", "version"], name="message_template_version_once"),
            UniqueConstraint(fields=["name", "language"], condition=Q(active=True), name="message_template_one_active"),
            all_or_none("message_template_approval_together", "approved_at", "approved_by"),
            check("message_template_active_approved", Q(active=False) | Q(approved_by__isnull=False)),
            check("message_template_four_eyes", Q(approved_by__isnull=True) | ~Q(approved_by=F("proposed_by"))),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.language}) v{self.version}"

    @property
    def title(self) -> str:
        """The name as people read it: "Trip ready" for `trip_ready`."""
        return title_of(self.name)


class OutboundMessage(models.Model):
    """One message. `recipient_digest` and `body_digest` are keyed; the number and the words are kept nowhere.

    `task_id` is the caller's own: the same one with the same body is the same message.
    """

    message_id = models.CharField(_("message ID"), max_length=64, unique=True, editable=False, default=new_message_id)
    consent = models.ForeignKey(
        "agents_proxy.ProcessingConsent", on_delete=models.PROTECT, null=True, related_name="messages", db_index=False
    )
    task_id = models.CharField(_("task"), max_length=72)
    recipient_digest = models.CharField(max_length=64)
    body_digest = models.CharField(max_length=64)
    template = models.ForeignKey(MessageTemplate, on_delete=models.PROTECT, null=True, related_name="messages")
    status = models.CharField(
        _("status"), max_length=16, choices=[(s.value, s.value) for s in MessageStatus], default=MessageStatus.SENDING
    )
    upstream_id = models.CharField(_("upstream ID"), max_length=128, blank=True)
    error_code = models.CharField(max_length=48, blank=True)
    created_at = models.DateTimeField(_("asked"), auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "outbound_messages"
        ordering = ["-id"]
        verbose_name = _("outbound message")
        verbose_name_plural = _("outbound messages")
        constraints = [
            UniqueConstraint(fields=["consent", "task_id"], name="outbound_message_once"),
            value_in("outbound_message_status", "status", MessageStatus),
            check(
                "outbound_message_error_together",
                (Q(status="failed") & ~Q(error_code="")) | (~Q(status="failed") & Q(error_code="")),
            ),
        ]

    def __str__(self) -> str:
        return self.message_id
