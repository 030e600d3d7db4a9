"""The numbers under which apps are told of events, and how old the backup is."""

from collections.abc import Iterator

from django.db.models import F, OuterRef, Q, Subquery

from common.clock import rfc3339
from config.restored.lines import Line, fails, passes
from consent.ledger.models import AuditEntry
from consent.notices.models import Notice, NoticeCounter
from developers.apps.models import App


def check_age() -> Iterator[Line]:
    """The time of the newest audit entry: what came after it is not in the backup."""
    newest = AuditEntry.objects.order_by("-pk").values_list("at", flat=True).first()
    yield passes("age", f"the newest audit entry is of {rfc3339(newest)}" if newest else "there are no audit entries")


def check_notices() -> Iterator[Line]:
    """Every app's counter has reached its newest notice, so that no number is given twice."""
    newest = Notice.objects.filter(app=OuterRef("pk")).order_by("-sequence").values("sequence")[:1]
    counted = NoticeCounter.objects.filter(app=OuterRef("pk")).values("sequence")
    apps = App.objects.annotate(newest=Subquery(newest), counted=Subquery(counted)).exclude(newest=None)
    behind = apps.filter(Q(counted=None) | Q(counted__lt=F("newest")))
    failed = False
    for app in behind.order_by("pk"):
        failed = True
        yield fails("notices", f"{app.app_id} counted {app.counted or 0} and has the notice {app.newest}")
    if not failed:
        text = "numbers go on from the backup's: an app that was told of later ones is not told that they came again"
        yield passes("notices", text)
