"""What people send to destinations, each sending a row: the queue, and afterwards what became of it."""

from django.db import models
from django.db.models import Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from agents_proxy.states import ActivationStatus
from common.constraints import check, set_while
from common.identifiers import new_identifier


def new_activation_id() -> str:
    return new_identifier("act")


def _status_in(*statuses: ActivationStatus) -> Q:
    return Q(status__in=[status.value for status in statuses])


_QUEUED = _status_in(ActivationStatus.QUEUED)
_SENDING = _status_in(ActivationStatus.SENDING)
_ENDED = _status_in(ActivationStatus.DELIVERED, ActivationStatus.FAILED)


class Activation(models.Model):
    """One sending of an analysis's brand affinity to one destination, under one consent.

    `body` is what goes out, sealed, and gone once the sending has ended; `digest` says afterwards what it was. `run` is
    null once the analysis is deleted. `attempts` is the fence: only who made this attempt may record its end.
    """

    activation_id = models.CharField(
        _("activation ID"), max_length=64, unique=True, editable=False, default=new_activation_id
    )
    run = models.ForeignKey(
        "agents_proxy.Run",
        on_delete=models.SET_NULL,
        null=True,
        related_name="activations",
        verbose_name=_("analysis"),
        db_index=False,
    )
    destination = models.ForeignKey(
        "agents_proxy.Destination", on_delete=models.PROTECT, related_name="activations", verbose_name=_("destination")
    )
    consent = models.ForeignKey(
        "agents_proxy.ProcessingConsent",
        on_delete=models.PROTECT,
        related_name="activations",
        verbose_name=_("consent to processing"),
    )
    number = models.PositiveSmallIntegerField(_("sending"), default=0)  # of this analysis to this destination
    status = models.CharField(
        _("status"),
        max_length=16,
        choices=[(s.value, s.value) for s in ActivationStatus],
        default=ActivationStatus.QUEUED,
    )
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    next_attempt_at = models.DateTimeField(_("next attempt"), null=True)
    lease_until = models.DateTimeField(null=True)
    status_code = models.PositiveSmallIntegerField(_("last answer"), null=True)
    error_code = models.CharField(_("error"), max_length=48, blank=True)
    body = models.TextField(null=True)  # noqa: DJ001  # null once the sending has ended
    digest = models.CharField(_("SHA-256 of what is sent"), max_length=64)
    created_at = models.DateTimeField(_("asked"))
    finished_at = models.DateTimeField(_("ended"), null=True)

    class Meta:
        db_table = "activations"
        ordering = ["-id"]
        verbose_name = _("activation")
        verbose_name_plural = _("activations")
        constraints = [
            UniqueConstraint(fields=["run", "destination", "number"], name="activation_once"),
            check("activation_status", _QUEUED | _SENDING | _ENDED),
            set_while("activation_next_together", _QUEUED, "next_attempt_at"),
            set_while("activation_lease_together", _SENDING, "lease_until"),
            check(
                "activation_finish_together",
                (_ENDED & Q(finished_at__isnull=False, body__isnull=True))
                | (~_ENDED & Q(finished_at__isnull=True, body__isnull=False)),
            ),
            check("activation_failure_has_error", ~Q(status="failed") | ~Q(error_code="")),
            check(
                "activation_delivery_has_answer", ~Q(status="delivered") | Q(error_code="", status_code__isnull=False)
            ),
        ]
        indexes = [
            Index(fields=["next_attempt_at"], condition=Q(status="queued"), name="activation_due"),
            Index(fields=["lease_until"], condition=Q(status="sending"), name="activation_leases"),
        ]

    def __str__(self) -> str:
        return f"{self.destination} #{self.number + 1}"
