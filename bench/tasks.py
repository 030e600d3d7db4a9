"""What the worker does on a timer: ends, reads and mails a second, the ends against one by one, and what a look costs.

    ./run bench tasks [--rounds 3] [--ends 1000] [--reads 10000] [--waiting 200000]

Makes a database of its own on the server of DATABASE_URL (PostgreSQL; the local one by default) and removes it. In
each round, requests and grants of 500 people end, a tenth of them one by one and then the rest in batches; reads of
all these people are chained; and mails are written to a mail server that takes each at once. Before the rounds, ten
times as many reads were kept long enough, and go. Beside them so many requests and as many grants wait of which nothing
is due, and at last the tasks look for something to do among those.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import cycle, islice
from statistics import median
from typing import Any

from bench.deliveries import LIMITS_OFF
from bench.trip import own_database

WANTED = {"ends/s": 1000.0, "reads chained/s": 5000.0}
IDLE_MS = 10.0
_COPY = "INSERT INTO {table} ({columns}) SELECT {values} FROM {table} t, generate_series(1, %s) n WHERE t.id = %s"


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run bench tasks")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ends", type=int, default=1000)
    parser.add_argument("--reads", type=int, default=10000)
    parser.add_argument("--waiting", type=int, default=200_000)
    options = parser.parse_args()
    with own_database() as url:
        os.environ.update(LIMITS_OFF, DATABASE_URL=url, DJANGO_SETTINGS_MODULE="bench.settings", LOG_LEVEL="ERROR")
        import django

        django.setup()
        from django.conf import settings
        from django.core.management import call_command

        settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
        call_command("migrate", verbosity=0)
        from bench.population import populate

        populate()
        return report(measure(options))


def measure(options: Any) -> dict[str, list[float]]:
    """Figures by name, one of each round."""
    from consent.mail.models import Mail

    let_wait(options.waiting)
    let_read_long_ago(10 * options.reads)
    figures: dict[str, list[float]] = {"old reads deleted/s": [_rate(delete_old_reads)]}
    for _ in range(options.rounds):
        for name, figure in a_round(options).items():
            figures.setdefault(name, []).append(figure)
    for name, look in looks().items():
        figures[f"{name}, ms"] = [timed(look)[0] * 1000 for _ in range(9)]
    assert Mail.objects.exists()
    return figures


def a_round(options: Any) -> dict[str, float]:
    from consent.decisions import expiry
    from consent.exports.read_batches import chain_waiting_reads
    from consent.mail.actions import send_due_mails

    figures = {}
    let_end(options.ends // 10)
    figures["ends/s, one by one"] = _rate(end_one_by_one)
    let_end(options.ends)
    figures["ends/s"] = _rate(lambda: expiry.write_down_expiry(most_seconds=60.0))
    let_read(options.reads)
    figures["reads chained/s"] = _rate(chain_waiting_reads)
    let_mail()
    figures["mails/s"] = _rate(send_due_mails)
    return figures


def delete_old_reads() -> int:
    from consent.exports.forgetting import forget_reads

    return forget_reads(most_seconds=600.0)


def looks() -> dict[str, Callable[[], object]]:
    """The tasks, with nothing to do."""
    from consent import retention
    from consent.decisions import expiry
    from consent.exports.read_batches import chain_waiting_reads
    from consent.ledger.pending import write_pending_entries
    from consent.mail.actions import send_due_mails
    from consent.notices.webhooks import deliver_due

    return {
        "no end due": expiry.write_down_expiry,
        "no read waits": chain_waiting_reads,
        "no entry waits": write_pending_entries,
        "no mail due": send_due_mails,
        "no webhook due": deliver_due,
        "nothing old enough": retention.forget_old_records,
    }


def let_end(count: int) -> None:
    """So many ends that are due, half of requests and half of grants."""
    from common.clock import database_now
    from common.identifiers import new_identifier
    from consent.grants.models import Grant
    from consent.requests.models import ConsentRequest

    asked = database_now() - timedelta(days=3)
    over = asked + timedelta(days=1)
    requests = _copies(ConsentRequest, count, request_id="req", created_at=asked, expires_at=over)
    for number, request in enumerate(requests):
        request.connector_thumbprint = new_identifier("")[-40:]
        if number % 2:
            request.status, request.decided_at, request.decided_by = "approved", asked, "person"
        else:
            request.status, request.decided_at, request.decided_by = "pending", None, ""
    ConsentRequest.objects.bulk_create(requests, batch_size=1000)
    approved = [request for request in requests if request.status == "approved"]
    grants = _copies(Grant, len(approved), grant_id="grt", starts_at=asked, expires_at=over)
    for number, (grant, request) in enumerate(zip(grants, approved, strict=True)):
        grant.request, grant.user_id, grant.scope = request, request.user_id, f"{request.scope}e{number}"
    Grant.objects.bulk_create(grants, batch_size=1000)


def _copies(model: Any, count: int, **fields: Any) -> list[Any]:
    """Rows like the population's, not saved yet, with these fields; of an identifier the prefix is given."""
    from common.identifiers import new_identifier

    names = [field.attname for field in model._meta.concrete_fields if not field.primary_key]
    rows = list(model.objects.order_by("pk").values(*names)[:500])
    made = []
    for row in islice(cycle(rows), count):
        own = {name: new_identifier(value) if isinstance(value, str) else value for name, value in fields.items()}
        made.append(model(**{**row, **own}))
    return made


def let_read_long_ago(count: int) -> None:
    """So many reads that were kept long enough, each chained when it was read, after the entries that are there."""
    from unittest.mock import patch

    from django.conf import settings

    from common.clock import database_now
    from consent.exports import read_batches
    from consent.exports.models import ForgottenReads
    from consent.ledger.models import AuditEntry

    newest = AuditEntry.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    ForgottenReads.objects.create(pk=1, entry=newest)
    then = database_now() - timedelta(days=settings.READS_KEPT_DAYS + 1)
    let_read(count, then)
    with patch.object(read_batches, "database_now", lambda: then):
        read_batches.chain_waiting_reads()


def let_read(count: int, at: datetime | None = None) -> None:
    """So many reads that no entry holds, in turn of every grant of the population."""
    from common.clock import database_now
    from consent.exports.models import Export, Read
    from developers.models import DeveloperToken

    token, now = DeveloperToken.objects.earliest("pk"), at or database_now()
    exports = cycle(list(Export.objects.order_by("pk").values_list("pk", "grant")))
    some = islice(exports, count)
    Read.objects.bulk_create(
        (Read(export_id=export, grant_id=grant, token=token, at=now) for export, grant in some), batch_size=2000
    )


def let_mail() -> None:
    """A mail to every person of the population is due."""
    from consent.mail.models import Mail
    from consent.requests.models import ConsentRequest

    Mail.objects.all().delete()
    waiting = ConsentRequest.objects.filter(status="pending").order_by("pk").values_list("pk", flat=True)[:500]
    ConsentRequest.objects.filter(pk__in=list(waiting)).update(mail_waits=True)


def let_wait(count: int) -> None:
    """So many requests that wait, each written about, and as many grants that live, each too short for a reminder."""
    from django.db import connection
    from django.db.models import Max

    from consent.grants.models import Grant
    from consent.notices.models import Notice, NoticeCounter
    from consent.requests.models import ConsentRequest

    ConsentRequest.objects.update(mail_waits=False)
    Grant.objects.update(reminder_waits=False)  # they are approvals of one day
    for app_pk, newest in Notice.objects.values_list("app").annotate(Max("sequence")):
        NoticeCounter.objects.update_or_create(app_id=app_pk, defaults={"sequence": newest})
    request = ConsentRequest.objects.filter(status="pending").order_by("-pk").first()
    grant = Grant.objects.order_by("-pk").first()
    assert request is not None
    assert grant is not None
    unlike = {"request_id": "'req_' || n", "connector_thumbprint": "lpad(n::text, 40, 'w')", "mail_waits": "false"}
    newest = ConsentRequest.objects.order_by("-pk").values_list("pk", flat=True)[0]
    _copy_in_sql(ConsentRequest, request.pk, count, unlike)
    unlike = {
        "grant_id": "'grt_' || n",
        "scope": "t.scope || 'w' || n",
        "reminder_waits": "false",
        "request_id": f"(SELECT r.id FROM consent_requests r WHERE r.request_id = 'req_' || n AND r.id > {newest})",
    }
    _copy_in_sql(Grant, grant.pk, count, unlike)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE consent_requests, consent_grants, consent_exports")


def _copy_in_sql(model: Any, pk: int, count: int, unlike: dict[str, str]) -> None:
    from django.db import connection

    columns = [field.column for field in model._meta.concrete_fields if not field.primary_key]
    values = ", ".join(unlike.get(column, f"t.{column}") for column in columns)
    copy = _COPY.format(table=model._meta.db_table, columns=", ".join(columns), values=values)
    with connection.cursor() as cursor:
        cursor.execute(copy, [count, pk])


def end_one_by_one() -> int:
    """What is overdue, each in a transaction of its own, as where a batch failed."""
    from django.db import transaction

    from common.clock import database_now
    from consent.grants.actions import end_grant
    from consent.grants.models import Grant
    from consent.requests.actions import close_request
    from consent.requests.models import ConsentRequest
    from consent.states import Actor, GrantStatus, RequestStatus

    now: datetime = database_now()
    ended = 0
    for pk in list(ConsentRequest.objects.overdue(now).values_list("pk", flat=True)):
        with transaction.atomic():
            ended += close_request(request_pk=pk, to=RequestStatus.EXPIRED, actor=Actor.SYSTEM, at=now)
    for pk in list(Grant.objects.overdue(now).values_list("pk", flat=True)):
        with transaction.atomic():
            ended += end_grant(grant_pk=pk, to=GrantStatus.EXPIRED, actor=Actor.SYSTEM, at=now, only_expired_at=now)
    return ended


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what the work returned."""
    began = time.perf_counter()
    done = work()
    return time.perf_counter() - began, done


def _rate(work: Callable[[], int]) -> float:
    seconds, done = timed(work)
    return done / seconds


def report(figures: dict[str, list[float]]) -> int:
    """Print the medians; 1 where one falls short."""
    reference = median(figures["ends/s, one by one"])
    short = False
    print(f"\n{'':24}{'median':>10}{'wanted':>10}{'of one by one':>16}")
    for name, values in figures.items():
        figure, is_look = median(values), name.endswith(", ms")
        wanted = IDLE_MS if is_look else WANTED.get(name)
        short |= wanted is not None and (figure > wanted if is_look else figure < wanted)
        ratio = f"{figure / reference:.1f}" if name == "ends/s" else ""
        bound = "" if wanted is None else f"{'≤' if is_look else '≥'} {wanted:.0f}"
        print(f"{name:24}{figure:>10.1f}{bound:>10}{ratio:>16}")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
