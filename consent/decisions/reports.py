"""What staff do about reports. Keyword-only, the one who acts as `by=`."""

from typing import TYPE_CHECKING

from django.db import transaction

from common.clock import database_now
from consent.decisions.models import AppReport, ReportNote, ReportStatus

if TYPE_CHECKING:
    from accounts.models import User


@transaction.atomic
def move_report(*, report_pk: int, to: ReportStatus, by: "User", note: str) -> bool:
    """Give a report this status, saying why; False where it has it already. A closed one can be opened again."""
    report = AppReport.objects.select_for_update().get(pk=report_pk)
    if report.status == to:
        return False
    now = database_now()
    closed_at = now if to is ReportStatus.CLOSED else None
    AppReport.objects.filter(pk=report_pk).update(status=to, handled_at=closed_at)
    ReportNote.objects.create(report=report, status=to, by=by, note=note, at=now)
    return True


@transaction.atomic
def add_note(*, report_pk: int, by: "User", note: str) -> None:
    """Write down what was found out; the report stays as it stands."""
    report = AppReport.objects.select_for_update().get(pk=report_pk)
    ReportNote.objects.create(report=report, status=report.status, by=by, note=note, at=database_now())
