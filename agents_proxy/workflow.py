"""What a person does with their analyses: start, cancel, try again, delete. The worker's side is in `stepping`."""

import json
import secrets
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Coalesce, Now

from accounts import atrest
from accounts.database import database_now, lock_for_transaction
from agents_proxy import consents
from agents_proxy.agents import PURPOSES as CONSENT_TO
from agents_proxy.analysis_errors import AnalysisEnded, ConsentEnded, StepNotFailed, TooManyAnalyses, UnknownAnalysis
from agents_proxy.merging import ORDER
from agents_proxy.models import Run, Step
from agents_proxy.results import finish
from agents_proxy.states import UNFINISHED_RUNS, UNFINISHED_STEPS, Purpose, Reach, RunStatus, StepStatus
from common.broker import tell_worker
from common.limits import Count, Limit

if TYPE_CHECKING:
    from accounts.models import User

UNFINISHED_PER_PERSON = 20
AGREED_TO = (Purpose.PROFILE, Purpose.ENRICHMENT, Purpose.BRAND_AFFINITY)


def unfinished_analyses(user: "User") -> Count:
    """How many of a person's runs are under way, and how many may be."""
    found = Run.objects.filter(user=user, status__in=UNFINISHED_RUNS).count()
    return Count(Limit("unfinished-analyses", UNFINISHED_PER_PERSON, 0), found, 0)


def start_analysis(*, by: "User", submitted: dict[str, str]) -> Run:
    """Write the consent to this one run, the run and its steps, and tell a worker.

    `submitted` is the checked input of contract 4.3 without `agreed`. Raises `TooManyAnalyses`.
    """
    with transaction.atomic():
        lock_for_transaction(f"analyses of {by.pk}")
        if unfinished_analyses(by).used >= UNFINISHED_PER_PERSON:
            raise TooManyAnalyses(headers={"Retry-After": "30"})
        now = database_now()
        kept = timedelta(days=settings.ANALYSIS_RETENTION_DAYS)
        consent = consents.give(by=by, purposes=AGREED_TO, reach=Reach.RUN, lasts=kept)
        run = Run.objects.create(
            user=by, consent=consent, input=atrest.sealed(json.dumps(submitted)), purge_at=now + kept
        )
        Step.objects.bulk_create(
            Step(run=run, position=position, agent=agent, task_id=f"task-{secrets.token_hex(16)}")
            for position, agent in enumerate(ORDER)
        )
        _tell_worker(run.pk)
    return run


def cancel_analysis(*, by: "User", analysis_id: str) -> Run:
    """End a run before its next step; what an agent answers from now on is dropped. Repeated: the same.

    Where one step was being tried again, only that is called off: what the run had come to before stands.

    Raises `UnknownAnalysis`, `AnalysisEnded`.
    """
    with transaction.atomic():
        run = own_run(by, analysis_id, lock=True)
        if run.status == RunStatus.CANCELLED:
            return run
        if run.status not in UNFINISHED_RUNS:
            raise AnalysisEnded(f"It ended as {run.status}.", run_status=run.status)
        end_early(run, "cancelled", database_now())
    return run


def end_early(run: Run, why: str, now: datetime) -> None:
    """Cancel a run that the caller holds locked: nothing more is asked, and nothing of it is merged.

    One that had ended before, and had a step tried again, ends as it had then.
    """
    unfinished = run.steps.filter(status__in=UNFINISHED_STEPS)
    if run.retried_at is not None:
        began = Coalesce("started_at", Value(now))
        unfinished.update(status=StepStatus.FAILED, lease_until=None, started_at=began, finished_at=now, error_code=why)
        finish(run, now)
        return
    unfinished.update(status=StepStatus.SKIPPED, lease_until=None, finished_at=now, error_code=why)
    run.status, run.finished_at = RunStatus.CANCELLED, now
    run.save(update_fields=["status", "finished_at", "updated_at"])


def retry_step(*, by: "User", analysis_id: str, agent: str) -> Run:
    """Ask one failed agent again, under the same task id; the profile is merged anew when it has answered.

    Raises `UnknownAnalysis` (an unknown agent, too), `StepNotFailed`, `ConsentEnded`.
    """
    with transaction.atomic():
        run = own_run(by, analysis_id, lock=True)
        step = run.steps.filter(agent=agent).first()
        if step is None:
            raise UnknownAnalysis("This analysis has no such step.")
        if step.status != StepStatus.FAILED or run.status not in (RunStatus.COMPLETED_WITH_ERRORS, RunStatus.FAILED):
            raise StepNotFailed()
        if not consents.is_live(run.consent, CONSENT_TO[agent]):
            raise ConsentEnded()
        _open_again(step)
        run.status, run.finished_at, run.retried_at = RunStatus.QUEUED, None, database_now()
        run.profile = run.provenance = run.metadata = None
        run.save()
        _tell_worker(run.pk)
    return run


def _open_again(step: Step) -> None:
    step.status, step.error_code, step.repaired = StepStatus.WAITING, "", False
    step.started_at = step.finished_at = step.duration_ms = step.reply = step.fields = step.field_count = None
    step.save()


def delete_analysis(*, by: "User", analysis_id: str) -> None:
    """Remove a run and all that agents said in it, finished or not; its consent ends with it.

    Raises `UnknownAnalysis`.
    """
    with transaction.atomic():
        run = own_run(by, analysis_id, lock=True)
        consents.withdraw(consent_id=run.consent.consent_id, by=by)
        run.delete()


def purge_analyses(*, at_once: int = 500) -> int:
    """Remove all runs whose time is over, so many in one transaction; returns how many there were."""
    over, removed = Run.objects.filter(purge_at__lte=Now()).order_by("pk"), 0
    while due := list(over.values_list("pk", flat=True)[:at_once]):
        Run.objects.filter(pk__in=due).delete()
        removed += len(due)
    return removed


def own_run(user: "User", analysis_id: str, *, lock: bool = False) -> Run:
    """The person's own run; one of somebody else, or whose time is over, is `UnknownAnalysis` as if it never was."""
    runs = Run.objects.select_for_update() if lock else Run.objects.all()
    run = runs.filter(user=user, analysis_id=analysis_id, purge_at__gt=Now()).first()
    if run is None:
        raise UnknownAnalysis()
    return run


def _tell_worker(run_pk: int) -> None:
    """After the commit. Where no worker can be told now, the sweeper finds the row."""
    transaction.on_commit(partial(_send, run_pk))


def _send(run_pk: int) -> None:
    from agents_proxy.tasks import run_analysis  # tasks imports the workflow

    tell_worker(run_analysis, run_pk)
