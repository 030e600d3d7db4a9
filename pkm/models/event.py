"""The runtime's history of changes to somebody's knowledge model."""

from django.db import models


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

    user = models.ForeignKey("accounts.User", on_delete=models.PROTECT, related_name="pkm_events")
    sequence = models.PositiveIntegerField()
    kind = models.CharField(max_length=24, choices=EventKind)
    facts = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "pkm_events"
        constraints = [
            models.UniqueConstraint(fields=["user", "sequence"], name="pkm_event_sequence"),
            models.CheckConstraint(condition=models.Q(kind__in=EventKind.values), name="pkm_event_kind"),
        ]
