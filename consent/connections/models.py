"""Connections: an app begins one, somebody opens it and lets the app know them."""

from datetime import datetime

from django.db import models
from django.db.models import Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from common.constraints import check, value_in
from consent.states import ConnectionStatus


class ConnectionQuerySet(models.QuerySet["Connection"]):
    def open(self, now: datetime) -> "ConnectionQuerySet":
        """Those that somebody can still answer."""
        return self.filter(status=ConnectionStatus.PENDING, expires_at__gt=now)

    def overdue(self, now: datetime) -> "ConnectionQuerySet":
        """Those that the clock has ended: nobody answered, or the app never completed what somebody did."""
        unanswered = Q(status=ConnectionStatus.PENDING, expires_at__lte=now)
        uncompleted = Q(status=ConnectionStatus.CONNECTED, completed_at=None, complete_by__lte=now)
        return self.filter(unanswered | uncompleted)


class Connection(models.Model):
    """One way for one person to one app. `user` is who connected.

    With a `return_url` it counts for the app once that has shown the code of the return by `complete_by`: whoever began
    it and sent the link to somebody else never sees that code. `asked` is the request that rides along, until it is
    made.
    """

    connection_id = models.CharField(_("connection ID"), max_length=64, unique=True)
    app = models.ForeignKey("developers.App", on_delete=models.CASCADE, related_name="connections")
    code_digest = models.CharField(max_length=64, editable=False)  # hexadecimal SHA-256 of what a person types
    binding_message = models.CharField(_("message on both sides"), max_length=64, blank=True)
    return_url = models.CharField(_("return address"), max_length=2000, blank=True)
    asked = models.JSONField(null=True, editable=False)
    status = models.CharField(
        _("status"),
        max_length=16,
        choices=[(each.value, each.value) for each in ConnectionStatus],
        default=ConnectionStatus.PENDING,
    )
    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, null=True, related_name="connections")
    request = models.OneToOneField(
        "consent.ConsentRequest", on_delete=models.CASCADE, null=True, related_name="connection"
    )
    refusal = models.CharField(max_length=64, blank=True)  # code of what kept the request from being made
    sequence = models.PositiveIntegerField(null=True)  # of the notice that told of its end
    created_at = models.DateTimeField(_("begun"))
    expires_at = models.DateTimeField(_("open until"))
    answered_at = models.DateTimeField(_("answered"), null=True)
    return_digest = models.CharField(max_length=64, blank=True, editable=False)  # of the code of the newest return
    complete_by = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(_("completed"), null=True)

    objects = ConnectionQuerySet.as_manager()

    class Meta:
        db_table = "connections"
        verbose_name = _("connection")
        verbose_name_plural = _("connections")
        constraints = [
            value_in("connection_status", "status", ConnectionStatus),
            check(
                "connection_connected_together",
                Q(user__isnull=False, complete_by__isnull=False) | ~Q(status=ConnectionStatus.CONNECTED),
            ),
            UniqueConstraint(fields=["code_digest"], condition=Q(status="pending"), name="connection_code_open_once"),
        ]
        indexes = [
            Index(fields=["created_at"], name="connection_age"),
            Index(fields=["expires_at"], condition=Q(status="pending"), name="connection_unanswered"),
            Index(
                fields=["complete_by"],
                condition=Q(status="connected", completed_at__isnull=True),
                name="connection_uncompleted",
            ),
        ]

    def __str__(self) -> str:
        return self.connection_id

    def status_at(self, now: datetime) -> ConnectionStatus:
        """As the person meets it."""
        is_over = self.status == ConnectionStatus.PENDING and self.expires_at <= now
        return ConnectionStatus.EXPIRED if is_over else ConnectionStatus(self.status)

    def reported_status(self, now: datetime) -> ConnectionStatus:
        """As the app is told: one that it has not completed is still pending."""
        status = self.status_at(now)
        if status is not ConnectionStatus.CONNECTED or self.completed_at is not None:
            return status
        is_over = self.complete_by is not None and self.complete_by <= now
        return ConnectionStatus.EXPIRED if is_over else ConnectionStatus.PENDING
