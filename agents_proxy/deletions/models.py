"""Who got something of a person, and what became of having it deleted there."""

from django.db import models
from django.db.models import Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from agents_proxy.agents import title_of
from agents_proxy.states import DeletionStatus
from common.constraints import check, set_while
from common.identifiers import new_identifier


def new_deletion_id() -> str:
    return new_identifier("del")


def _status_in(*statuses: DeletionStatus) -> Q:
    return Q(status__in=[status.value for status in statuses])


_DISCLOSED = _status_in(DeletionStatus.DISCLOSED)
_QUEUED = _status_in(DeletionStatus.QUEUED)
_SENDING = _status_in(DeletionStatus.SENDING)
_ENDED = _status_in(DeletionStatus.CONFIRMED, DeletionStatus.UNCONFIRMED)
_OF_CONSENT = Q(consent__isnull=False, erasure__isnull=True)
_OF_ERASURE = Q(consent__isnull=True, erasure__isnull=False)
_TO_AGENT = Q(destination__isnull=True) & ~Q(agent="")
_TO_DESTINATION = Q(destination__isnull=False, agent="")


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
            UniqueConstraint(
                fields=["consent", "agent", "origin"],
                condition=Q(destination__isnull=True),
                name="deletion_once_an_agent",
            ),
            UniqueConstraint(
                fields=["consent", "destination"],
                condition=Q(destination__isnull=False),
                name="deletion_once_a_destination",
            ),
            UniqueConstraint(
                fields=["erasure", "part", "agent", "origin"],
                condition=Q(destination__isnull=True),
                name="deletion_erasure_once_an_agent",
            ),
            UniqueConstraint(
                fields=["erasure", "part", "destination"],
                condition=Q(destination__isnull=False),
                name="deletion_erasure_once_a_destination",
            ),
            check("deletion_of_one", _OF_CONSENT | _OF_ERASURE),
            check("deletion_to_one", _TO_AGENT | _TO_DESTINATION),
            check("deletion_status", _DISCLOSED | _QUEUED | _SENDING | _ENDED),
            check(
                "deletion_requested_together",
                (_DISCLOSED & Q(requested_at__isnull=True)) | (~_DISCLOSED & Q(requested_at__isnull=False)),
            ),
            set_while("deletion_next_together", _QUEUED, "next_attempt_at"),
            set_while("deletion_lease_together", _SENDING, "lease_until"),
            check(
                "deletion_finish_together",
                (_ENDED & Q(finished_at__isnull=False, subject__isnull=True))
                | (~_ENDED & Q(finished_at__isnull=True, subject__isnull=False)),
            ),
            check(
                "deletion_confirmation_has_answer", ~Q(status="confirmed") | Q(error_code="", status_code__isnull=False)
            ),
        ]
        indexes = [
            Index(fields=["consent"], condition=Q(consent__isnull=False), name="deletion_of_consent"),
            Index(fields=["erasure"], condition=Q(erasure__isnull=False), name="deletion_of_erasure"),
            Index(fields=["next_attempt_at"], condition=Q(status="queued"), name="deletion_due"),
            Index(fields=["lease_until"], condition=Q(status="sending"), name="deletion_leases"),
        ]

    def __str__(self) -> str:
        return str(self.destination or title_of(self.agent))
