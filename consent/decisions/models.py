"""What a person decides about an app as such: to block it, to report it to staff."""

from django.db import models
from django.db.models import Index, Q, UniqueConstraint
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.constraints import check, value_in


class BlockedApp(models.Model):
    """An app that a person does not want to hear from; it sees `invalid_scope`."""

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="blocked_apps", db_index=False)
    app = models.ForeignKey("developers.App", on_delete=models.CASCADE, related_name="blocked_by")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "blocked_apps"
        constraints = [UniqueConstraint(fields=["user", "app"], name="blocked_app_once")]


class ReportStatus(models.TextChoices):
    """Where a report about an app stands; it can be opened again whenever it was closed."""

    OPEN = "open", _("Open")
    IN_HAND = "in_hand", _("In hand")
    CLOSED = "closed", _("Closed")


class AppReport(models.Model):
    """What a person told staff about an app. `handled_at` is when it was closed, while it is."""

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="app_reports")
    app = models.ForeignKey("developers.App", on_delete=models.CASCADE, related_name="reports")
    text = models.TextField(_("report"), max_length=2000)
    status = models.CharField(
        _("status"), max_length=8, choices=ReportStatus, default=ReportStatus.OPEN, db_default=ReportStatus.OPEN
    )
    handled_at = models.DateTimeField(_("closed"), null=True, blank=True)
    created_at = models.DateTimeField(_("reported"), auto_now_add=True)

    class Meta:
        db_table = "app_reports"
        verbose_name = _("report about an app")
        verbose_name_plural = _("reports about apps")
        constraints = [
            value_in("app_report_status", "status", ReportStatus),
            check(
                "app_report_closed_together",
                Q(status=ReportStatus.CLOSED, handled_at__isnull=False)
                | (~Q(status=ReportStatus.CLOSED) & Q(handled_at__isnull=True)),
            ),
        ]
        indexes = [Index(fields=["created_at"], condition=~Q(status=ReportStatus.CLOSED), name="app_report_waiting")]

    def __str__(self) -> str:
        at = date_format(localtime(self.created_at), "DATE_FORMAT")
        return gettext("Report about %(app)s, %(date)s") % {"app": self.app, "date": at}


class ReportNote(models.Model):
    """One step of handling a report: the status that it got, who gave it, when, and why. Only added to."""

    report = models.ForeignKey(AppReport, on_delete=models.CASCADE, related_name="notes")
    status = models.CharField(_("status"), max_length=8, choices=ReportStatus)
    by = models.ForeignKey(
        "accounts.User", on_delete=models.SET_NULL, null=True, related_name="report_notes", verbose_name=_("by")
    )
    note = models.CharField(_("note"), max_length=1000)
    at = models.DateTimeField(_("at"))

    class Meta:
        db_table = "app_report_notes"
        ordering = ["pk"]
        constraints = [
            value_in("app_report_note_status", "status", ReportStatus),
            check("app_report_note_says_why", ~Q(note="")),
        ]


class ScopeWithdrawal(models.Model):
    """Staff withdrew a scope: the work that this leaves, which a task does in batches until `finished_at`.

    Requests up to `newest_request` that wait are cancelled; where it `ends_grants`, live grants up to `newest_grant`
    are terminated. What came later, once the scope could be asked for again, is left alone. Both numbers are primary
    keys; 0 means that there was none.
    """

    scope_entry = models.ForeignKey(
        "pkm.ScopeEntry", on_delete=models.PROTECT, related_name="withdrawals", verbose_name=_("scope")
    )
    by = models.ForeignKey(
        "accounts.User", on_delete=models.SET_NULL, null=True, related_name="scope_withdrawals", verbose_name=_("by")
    )
    ends_grants = models.BooleanField(_("ends live grants"), default=False)
    newest_request = models.BigIntegerField(default=0)
    newest_grant = models.BigIntegerField(default=0)
    cancelled = models.PositiveIntegerField(_("requests cancelled"), default=0)
    ended = models.PositiveIntegerField(_("grants ended"), default=0)
    at = models.DateTimeField(_("at"))
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)

    class Meta:
        db_table = "scope_withdrawals"
        verbose_name = _("withdrawal of a scope")
        verbose_name_plural = _("withdrawals of scopes")
        indexes = [Index(fields=["id"], condition=Q(finished_at__isnull=True), name="scope_withdrawal_to_do")]

    def __str__(self) -> str:
        return str(self.scope_entry)
