"""The history of changes to somebody's knowledge model, and the row whose lock orders them."""

from django.db import models
from django.db.models import UniqueConstraint

from common.constraints import value_in


class Index(models.Model):
    """One row a person, rewritten in the transaction that changes a segment; its lock orders their writes.

    `summary_projection` is {domain: {segment: attribute count}}, `domain_freshness` {domain: RFC 3339 time}.
    """

    user = models.OneToOneField("accounts.User", on_delete=models.CASCADE, related_name="pkm_index")
    available_domains = models.JSONField(default=list)
    domain_freshness = models.JSONField(default=dict)
    summary_projection = models.JSONField(default=dict)
    capability_flags = models.JSONField(default=dict)
    total_attributes = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "pkm_index"


class EventKind(models.TextChoices):
    """What can happen to a knowledge model."""

    VAULT_CREATED = "vault_created"
    WRAPPER_ADDED = "wrapper_added"
    WRAPPER_REMOVED = "wrapper_removed"
    WRAPPER_RESTORED = "wrapper_restored"
    SEGMENT_WRITTEN = "segment_written"
    SEGMENT_DELETED = "segment_deleted"
    MANIFEST_CHANGED = "manifest_changed"
    SCOPE_HIDDEN = "scope_hidden"
    SCOPE_SHOWN = "scope_shown"
    MIGRATION_STEP = "migration_step"


class Event(models.Model):
    """One change; the sequence of a person has no gaps, since it is counted under their index row's lock."""

    user = models.ForeignKey("accounts.User", on_delete=models.PROTECT, related_name="pkm_events", db_index=False)
    sequence = models.PositiveIntegerField()
    kind = models.CharField(max_length=24, choices=EventKind)
    facts = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "pkm_events"
        constraints = [
            UniqueConstraint(fields=["user", "sequence"], name="pkm_event_sequence"),
            value_in("pkm_event_kind", "kind", EventKind),
        ]
