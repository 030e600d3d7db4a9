"""Who got something of a person, and what became of having it deleted there."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents_proxy.states import DeletionStatus
from common.identifiers import new_identifier


def new_deletion_id() -> str:
    return new_identifier("del")


def _status_in(*statuses: DeletionStatus) -> models.Q:
    return models.Q(status__in=[status.value for status in statuses])


_DISCLOSED = _status_in(DeletionStatus.DISCLOSED)
_QUEUED = _status_in(DeletionStatus.QUEUED)
_SENDING = _status_in(DeletionStatus.SENDING)
_ENDED = _status_in(DeletionStatus.CONFIRMED, DeletionStatus.UNCONFIRMED)
_OF_CONSENT = models.Q(consent__isnull=False, erasure__isnull=True)
_OF_ERASURE = models.Q(consent__isnull=True, erasure__isnull=False)
_TO_AGENT = models.Q(destination__isnull=True) & ~models.Q(agent="")
_TO_DESTINATION = models.Q(destination__isnull=False, agent="")


class Deletion(models.Model):
    """One receiver of what one consent covers, written before anything goes there: an agent, or a destination.

    Of somebody who is erased it is one of the erasure, and of nobody else: `part` 0 asks for all of theirs, each other
    one for what came under one former consent and is kept by what is somebody else's now. `origin` is where the
    receiver was then: an agent that moved is another one. `subject` is sealed: `{"row", "emails", "phone_numbers",
    "activations", "access", "consent"}`, as far as the receiver was told, and gone once it confirmed or thirty days are
    over. `attempts` is the fence: only who made this attempt may record its end.
    """

    deletion_id = models.CharField(
        _("deletion ID"), max_length=64, unique=True, editable=False, default=new_deletion_id
    )
    consent = models.ForeignKey(
        "agents_proxy.ProcessingConsent",
        on_delete=models.PROTECT,
        null=True,
        related_name="deletions",
        verbose_name=_("consent to processing"),
        db_index=False,
    )
    erasure = models.ForeignKey(
        "accounts.Erasure",
        on_delete=models.PROTECT,
        null=True,
        related_name="deletions",
        verbose_name=_("erasure"),
        db_index=False,
    )
    part = models.PositiveIntegerField(default=0, db_default=0)
    agent = models.CharField(_("agent"), max_length=32, blank=True)
    destination = models.ForeignKey(
        "agents_proxy.Destination",
        on_delete=models.PROTECT,
        null=True,
        related_name="deletions",
        verbose_name=_("destination"),
    )
    origin = models.CharField(_("origin"), max_length=255)
    status = models.CharField(
        _("status"), max_length=16, choices=[(s.value, s.value) for s in DeletionStatus],
        default=DeletionStatus.DISCLOSED,
    )  # fmt: skip
    subject = models.TextField(null=True)  # noqa: DJ001  # null once it ended
    has_email = models.BooleanField(default=False)  # that the receiver was told an address
    has_number = models.BooleanField(default=False)
    first_at = models.DateTimeField(_("first sent"))
    last_at = models.DateTimeField(_("last sent"))
    under_way = models.PositiveIntegerField(default=0)  # calls and sendings that began and have not come back
    requested_at = models.DateTimeField(_("deletion requested"), null=True)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    next_attempt_at = models.DateTimeField(_("next attempt"), null=True)
    lease_until = models.DateTimeField(null=True)
    status_code = models.PositiveSmallIntegerField(_("last answer"), null=True)
    error_code = models.CharField(_("error"), max_length=48, blank=True)
    finished_at = models.DateTimeField(_("ended"), null=True)
    confirmation = models.TextField(_("answer"), blank=True)  # in the receiver's words, cleaned and cut

    class Meta:
        db_table = "deletions"
        ordering = ["-id"]
        verbose_name = _("deletion elsewhere")
        verbose_name_plural = _("deletions elsewhere")
        constraints = [
            models.UniqueConstraint(
                fields=["consent", "agent", "origin"], condition=models.Q(destination__isnull=True),
                name="deletion_once_an_agent",
            ),
            models.UniqueConstraint(
                fields=["consent", "destination"], condition=models.Q(destination__isnull=False),
                name="deletion_once_a_destination",
            ),
            models.UniqueConstraint(
                fields=["erasure", "part", "agent", "origin"], condition=models.Q(destination__isnull=True),
                name="deletion_erasure_once_an_agent",
            ),
            models.UniqueConstraint(
                fields=["erasure", "part", "destination"], condition=models.Q(destination__isnull=False),
                name="deletion_erasure_once_a_destination",
            ),
            models.CheckConstraint(condition=_OF_CONSENT | _OF_ERASURE, name="deletion_of_one"),
            models.CheckConstraint(condition=_TO_AGENT | _TO_DESTINATION, name="deletion_to_one"),
            models.CheckConstraint(condition=_DISCLOSED | _QUEUED | _SENDING | _ENDED, name="deletion_status"),
            models.CheckConstraint(
                condition=(_DISCLOSED & models.Q(requested_at__isnull=True))
                | (~_DISCLOSED & models.Q(requested_at__isnull=False)),
                name="deletion_requested_together",
            ),
            models.CheckConstraint(
                condition=(_QUEUED & models.Q(next_attempt_at__isnull=False))
                | (~_QUEUED & models.Q(next_attempt_at__isnull=True)),
                name="deletion_next_together",
            ),
            models.CheckConstraint(
                condition=(_SENDING & models.Q(lease_until__isnull=False))
                | (~_SENDING & models.Q(lease_until__isnull=True)),
                name="deletion_lease_together",
            ),
            models.CheckConstraint(
                condition=(_ENDED & models.Q(finished_at__isnull=False, subject__isnull=True))
                | (~_ENDED & models.Q(finished_at__isnull=True, subject__isnull=False)),
                name="deletion_finish_together",
            ),
            models.CheckConstraint(
                condition=~models.Q(status="confirmed") | models.Q(error_code="", status_code__isnull=False),
                name="deletion_confirmation_has_answer",
            ),
        ]  # fmt: skip
        indexes = [
            models.Index(fields=["consent"], condition=models.Q(consent__isnull=False), name="deletion_of_consent"),
            models.Index(fields=["erasure"], condition=models.Q(erasure__isnull=False), name="deletion_of_erasure"),
            models.Index(fields=["next_attempt_at"], condition=models.Q(status="queued"), name="deletion_due"),
            models.Index(fields=["lease_until"], condition=models.Q(status="sending"), name="deletion_leases"),
        ]

    def __str__(self) -> str:
        return self.deletion_id
