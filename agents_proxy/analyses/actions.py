"""What a person does with their analyses: start, cancel, try again, delete. The worker's side is in `steps`."""

import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Coalesce, Now
from django.utils.translation import gettext

from accounts.models import User
from agents_proxy.agents import AGENTS, ANALYSIS_AGENTS, ANALYSIS_PURPOSES
from agents_proxy.analyses import errors
from agents_proxy.analyses.corrections import require_own
from agents_proxy.analyses.models import Run, Step
from agents_proxy.analyses.prompts import number_of
from agents_proxy.analyses.queries import own_run, subject_of_run
from agents_proxy.analyses.results import OWN_VALUES, finish
from agents_proxy.budgets import Budget, spend
from agents_proxy.errors import ConsentEnded, SubjectMismatch
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.actions import Wording
from agents_proxy.processing_consent.identifiers import Identifiers, folded, named_by, require_verified, verified_by
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy.subjects import subject_from
from agents_proxy.statements import OWN_VALUES_USED, VERSION, statement
from agents_proxy.states import UNFINISHED_RUNS, UNFINISHED_STEPS, Purpose, Reach, RunStatus, StepStatus
from common import encryption
from common.broker import enqueue
from common.clock import database_now
from common.limits import Count, Limit
from common.sql.statements import lock_for_transaction

UNFINISHED_PER_PERSON = 20
RUN_ANALYSIS = "agents_proxy.tasks.run_analysis"


def unfinished_analyses(user: User) -> Count:
    """How many of a person's runs are under way, and how many may be."""
    found = Run.objects.filter(user=user, status__in=UNFINISHED_RUNS).count()
    return Count(Limit("unfinished-analyses", UNFINISHED_PER_PERSON, 0), found, 0)


def start_analysis(
    *,
    by: User,
    submitted: dict[str, str],
    purposes: Sequence[Purpose] = ANALYSIS_PURPOSES,
    under: int | None = None,
    own: Mapping[str, Any] | None = None,
) -> Run:
    """Write the consent to this one run, the run and its steps, and tell a worker.

    `submitted` is the checked input of contract 4.3 without `agreed`; agents of other `purposes` are not asked. `under`
    is the consent behind a token, which covers the run in place of one of its own. `own`, field → value, is what the
    person gives of their own data: it stands in place of what agents say, and lives as long as the run. Raises
    `AddressNotVerified`, `TooManyAnalyses`, `AnalysisBudgetSpent`.
    """
    named = _named(by, submitted, under)
    require_own(by, own or {})
    given = {**submitted, OWN_VALUES: dict(own)} if own else submitted
    with transaction.atomic():
        lock_for_transaction(f"analyses of {by.pk}")
        if unfinished_analyses(by).used >= UNFINISHED_PER_PERSON:
            raise errors.TooManyAnalyses(headers={"Retry-After": "30"})
        _spend(by, under)
        now = database_now()
        kept = timedelta(days=settings.ANALYSIS_RETENTION_DAYS)
        if under is None:
            words = _wording(purposes, kept) if own else None
            under = consents.give(by=by, purposes=purposes, named=named, reach=Reach.RUN, lasts=kept, wording=words).pk
        run = Run.objects.create(
            user=by, consent_id=under, input=encryption.sealed(json.dumps(given)), purge_at=now + kept
        )
        Step.objects.bulk_create(
            Step(run=run, position=position, agent=agent, task_id=f"task-{secrets.token_hex(16)}")
            for position, agent in enumerate(ANALYSIS_AGENTS)
            if AGENTS[agent].purpose in purposes
        )
        _enqueue(run.pk)
    return run


def _wording(purposes: Sequence[Purpose], lasts: timedelta) -> Wording:
    """What is agreed to where values of the person's own data are used."""
    words = statement(purposes, requester=gettext("This service"), lasts=lasts, one_analysis=True)
    return Wording(VERSION, f"{words}\n{OWN_VALUES_USED}")


def _named(by: User, submitted: dict[str, str], under: int | None) -> Identifiers:
    """An analysis is about whoever agreed to it: of what they verified, by what `under` names. A number that is not
    verified stays in the input. Raises `AddressNotVerified`."""
    own = verified_by(by.pk)
    if under is not None:
        own = named_by(ProcessingConsent.objects.get(pk=under), own)
    named = Identifiers((folded(submitted["email"]),), (number_of(submitted),))
    require_verified(Identifiers(named.emails), own)
    return named.within(own)


def _spend(by: User, under: int | None) -> None:
    app_pk = ProcessingConsent.objects.only("app").get(pk=under).app_id if under is not None else None
    exceeded = spend(Budget.ANALYSES, person_pk=by.pk, app_pk=app_pk)
    if exceeded is not None:
        raise errors.AnalysisBudgetSpent(
            f"At most {exceeded.limit.allowed} analyses an hour ({exceeded.limit.name}).",
            headers={"Retry-After": str(exceeded.resets_in)},
        )


def cancel_analysis(*, by: User, analysis_id: str, under: int | None = None) -> Run:
    """End a run before its next step; what an agent answers from now on is dropped. Repeated: the same.

    Where one step was being tried again, only that is called off: what the run had come to before stands.

    Raises `UnknownAnalysis`, `AnalysisEnded`.
    """
    with transaction.atomic():
        run = own_run(by, analysis_id, lock=True, under=under)
        if run.status == RunStatus.CANCELLED:
            return run
        if run.status not in UNFINISHED_RUNS:
            raise errors.AnalysisEnded(f"It ended as {run.status}.", run_status=run.status)
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


def retry_step(*, by: User, analysis_id: str, agent: str, under: int | None = None) -> Run:
    """Ask one failed agent again, under the same task id; the profile is merged anew when it has answered.

    Raises `UnknownAnalysis` (an unknown agent, too), `AddressNotVerified`, `StepNotFailed`, `ConsentEnded`,
    `AnalysisBudgetSpent`.
    """
    with transaction.atomic():
        run, step = _own_step(by, analysis_id, agent, under)
        subject_of_run(run)
        if step.status != StepStatus.FAILED or run.status not in (RunStatus.COMPLETED_WITH_ERRORS, RunStatus.FAILED):
            raise errors.StepNotFailed()
        if not consents.is_live(run.consent, AGENTS[agent].purpose):
            raise ConsentEnded()
        _spend(by, under)
        _open_again(step)
        run.status, run.finished_at, run.retried_at = RunStatus.QUEUED, None, database_now()
        run.profile = run.provenance = run.metadata = None
        run.save()
        _enqueue(run.pk)
    return run


def answer_step(*, by: User, analysis_id: str, agent: str, text: str, under: int | None = None) -> Run:
    """Answer what an agent asked: it is called again, in the same conversation, and the run goes on.

    Raises `UnknownAnalysis` (an unknown agent, too), `AddressNotVerified`, `StepNotAsking`, `ConsentEnded`,
    `AnswerNamesOthers`, `AnalysisBudgetSpent`.
    """
    with transaction.atomic():
        run, step = _own_step(by, analysis_id, agent, under)
        about = subject_from(subject_of_run(run), run.user_id)
        if step.status != StepStatus.INPUT_REQUIRED or run.status not in UNFINISHED_RUNS:
            raise errors.StepNotAsking()
        if not consents.is_live(run.consent, AGENTS[agent].purpose):
            raise ConsentEnded()
        try:
            about.for_prompt(text)
        except SubjectMismatch:
            raise errors.AnswerNamesOthers() from None
        _spend(by, under)
        conversation = json.loads(encryption.opened(str(step.conversation)))
        _open_again(step, encryption.sealed(json.dumps({**conversation, "answer": text})))
        _enqueue(run.pk)
    return run


def _own_step(by: User, analysis_id: str, agent: str, under: int | None) -> tuple[Run, Step]:
    run = own_run(by, analysis_id, lock=True, under=under)
    step = run.steps.filter(agent=agent).first()
    if step is None:
        raise errors.UnknownAnalysis("This analysis has no such step.")
    return run, step


def _open_again(step: Step, conversation: str | None = None) -> None:
    step.status, step.error_code, step.repaired, step.conversation = StepStatus.WAITING, "", False, conversation
    step.started_at = step.finished_at = step.lease_until = step.duration_ms = None
    step.reply = step.fields = step.reading = step.field_count = None
    step.save()


def delete_analysis(*, by: User, analysis_id: str, under: int | None = None) -> None:
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


def _enqueue(run_pk: int) -> None:
    """After the commit. Where no worker can be told now, the sweeper finds the row."""
    transaction.on_commit(partial(enqueue, RUN_ANALYSIS, run_pk))
