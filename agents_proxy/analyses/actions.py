"""What a person does with their analyses: start, cancel, try again, delete. The worker's side is in `steps`."""

import json
import secrets
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Coalesce, Now

from agents_proxy.agents import AGENTS, ANALYSIS_AGENTS, ANALYSIS_PURPOSES
from agents_proxy.analyses.errors import (
    AnalysisBudgetSpent,
    AnalysisEnded,
    ConsentEnded,
    StepNotFailed,
    TooManyAnalyses,
    UnknownAnalysis,
)
from agents_proxy.analyses.models import Run, Step
from agents_proxy.analyses.prompts import number_of
from agents_proxy.analyses.queries import own_run, subject_of_run
from agents_proxy.analyses.results import finish
from agents_proxy.budgets import Budget, spend
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.identifiers import (
    Identifiers,
    folded,
    named_by,
    require_verified,
    verified_by,
)
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.states import UNFINISHED_RUNS, UNFINISHED_STEPS, Reach, RunStatus, StepStatus
from common import encryption
from common.broker import tell_worker
from common.clock import database_now
from common.limits import Count, Limit
from common.sql.statements import lock_for_transaction

if TYPE_CHECKING:
    from accounts.models import User


UNFINISHED_PER_PERSON = 20
RUN_ANALYSIS = "agents_proxy.tasks.run_analysis"


def unfinished_analyses(user: "User") -> Count:
    """How many of a person's runs are under way, and how many may be."""
    found = Run.objects.filter(user=user, status__in=UNFINISHED_RUNS).count()
    return Count(Limit("unfinished-analyses", UNFINISHED_PER_PERSON, 0), found, 0)


def start_analysis(*, by: "User", submitted: dict[str, str], under: int | None = None) -> Run:
    """Write the consent to this one run, the run and its steps, and tell a worker.

    `submitted` is the checked input of contract 4.3 without `agreed`. `under` is the consent behind a token, which
    covers the run in place of one of its own. Raises `AddressNotVerified`, `TooManyAnalyses`, `AnalysisBudgetSpent`.
    """
    named = _named(by, submitted, under)
    with transaction.atomic():
        lock_for_transaction(f"analyses of {by.pk}")
        if unfinished_analyses(by).used >= UNFINISHED_PER_PERSON:
            raise TooManyAnalyses(headers={"Retry-After": "30"})
        _spend(by, under)
        now = database_now()
        kept = timedelta(days=settings.ANALYSIS_RETENTION_DAYS)
        if under is None:
            under = consents.give(by=by, purposes=ANALYSIS_PURPOSES, named=named, reach=Reach.RUN, lasts=kept).pk
        run = Run.objects.create(
            user=by, consent_id=under, input=encryption.sealed(json.dumps(submitted)), purge_at=now + kept
        )
        Step.objects.bulk_create(
            Step(run=run, position=position, agent=agent, task_id=f"task-{secrets.token_hex(16)}")
            for position, agent in enumerate(ANALYSIS_AGENTS)
        )
        _tell_worker(run.pk)
    return run


def _named(by: "User", submitted: dict[str, str], under: int | None) -> Identifiers:
    """An analysis is about whoever agreed to it: of what they verified, by what `under` names. A number that is not
    verified stays in the input. Raises `AddressNotVerified`."""
    own = verified_by(by.pk)
    if under is not None:
        own = named_by(ProcessingConsent.objects.get(pk=under), own)
    named = Identifiers((folded(submitted["email"]),), (number_of(submitted),))
    require_verified(Identifiers(named.emails), own)
    return named.within(own)


def _spend(by: "User", under: int | None) -> None:
    app_pk = ProcessingConsent.objects.only("app").get(pk=under).app_id if under is not None else None
    exceeded = spend(Budget.ANALYSES, person_pk=by.pk, app_pk=app_pk)
    if exceeded is not None:
        raise AnalysisBudgetSpent(
            f"At most {exceeded.limit.allowed} analyses an hour ({exceeded.limit.name}).",
            headers={"Retry-After": str(exceeded.resets_in)},
        )


def cancel_analysis(*, by: "User", analysis_id: str, under: int | None = None) -> Run:
    """End a run before its next step; what an agent answers from now on is dropped. Repeated: the same.

    Where one step was being tried again, only that is called off: what the run had come to before stands.

    Raises `UnknownAnalysis`, `AnalysisEnded`.
    """
    with transaction.atomic():
        run = own_run(by, analysis_id, lock=True, under=under)
        if run.status == RunStatus.CANCELLED:
            return run
        if run.status not in UNFINISHED_RUNS:
            raise AnalysisEnded(f"It ended as {run.status}.", run_status=run.status)
        end_early(run, "cancelled", database_now())
    return run


def end_analyses_under(consent_pk: int) -> None:
    """End what is under way under a consent that is being withdrawn: no step begins, and no answer is written down."""
    with transaction.atomic():
        under_way = Run.objects.select_for_update().filter(consent=consent_pk, status__in=UNFINISHED_RUNS)
        for run in under_way.order_by("pk"):
            end_early(run, "consent_withdrawn", database_now())


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


def retry_step(*, by: "User", analysis_id: str, agent: str, under: int | None = None) -> Run:
    """Ask one failed agent again, under the same task id; the profile is merged anew when it has answered.

    Raises `UnknownAnalysis` (an unknown agent, too), `AddressNotVerified`, `StepNotFailed`, `ConsentEnded`,
    `AnalysisBudgetSpent`.
    """
    with transaction.atomic():
        run = own_run(by, analysis_id, lock=True, under=under)
        step = run.steps.filter(agent=agent).first()
        if step is None:
            raise UnknownAnalysis("This analysis has no such step.")
        subject_of_run(run)
        if step.status != StepStatus.FAILED or run.status not in (RunStatus.COMPLETED_WITH_ERRORS, RunStatus.FAILED):
            raise StepNotFailed()
        if not consents.is_live(run.consent, AGENTS[agent].purpose):
            raise ConsentEnded()
        _spend(by, under)
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


def delete_analysis(*, by: "User", analysis_id: str, under: int | None = None) -> None:
    """Remove a run and all that agents said in it, finished or not; the consent to it alone ends with it.

    Raises `UnknownAnalysis`.
    """
    with transaction.atomic():
        run = own_run(by, analysis_id, lock=True, under=under)
        if run.consent.reach == Reach.RUN:
            consents.withdraw(consent_id=run.consent.consent_id, by=by)
        run.delete()


def purge_analyses(*, at_once: int = 500) -> int:
    """Remove all runs whose time is over, so many in one transaction; returns how many there were."""
    over, removed = Run.objects.filter(purge_at__lte=Now()).order_by("pk"), 0
    while due := list(over.values_list("pk", flat=True)[:at_once]):
        Run.objects.filter(pk__in=due).delete()
        removed += len(due)
    return removed


def _tell_worker(run_pk: int) -> None:
    """After the commit. Where no worker can be told now, the sweeper finds the row."""
    transaction.on_commit(partial(tell_worker, RUN_ANALYSIS, run_pk))
