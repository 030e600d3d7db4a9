"""The worker's side of an analysis: claim a step, ask its agent, record the answer once.

The rows are the queue. A step is claimed with a lease that a live worker keeps renewing; `attempt` is the fence, so
that of two workers who asked the same agent only the last to claim can record. A worker that dies leaves a lease that
runs out, and the sweeper hands the run to another, which asks again under the same task id. A worker that is asked to
end begins no step, and puts one that its grace cut off back.
"""

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import Case, Exists, F, OuterRef, QuerySet, When, Window
from django.db.models.functions import Now, RowNumber

from agents_proxy.agents import AGENTS
from agents_proxy.analyses.actions import end_early
from agents_proxy.analyses.models import Run, Step
from agents_proxy.analyses.prompts import number_of, person_of, profile_prompt
from agents_proxy.analyses.results import finish, reading_of
from agents_proxy.errors import CallFailed, ConsentRequired, NotConfigured, SubjectMismatch, UpstreamTimeout
from agents_proxy.financial import items as linked_items
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.identifiers import named_by, verified_by
from agents_proxy.proxy import calls
from agents_proxy.proxy.envelope import Conversation, Prompt, Reply
from agents_proxy.proxy.subjects import Subject, subject_from
from agents_proxy.states import LEASED_STEPS, UNFINISHED_RUNS, UNFINISHED_STEPS, Purpose, Reach, RunStatus, StepStatus
from common import encryption
from common.clock import database_now
from common.shutdown import shutdown

RENEWALS = 3  # in the time of one lease
FORSAKEN_AFTER = timedelta(seconds=3)  # between two steps nobody needs this long
ANSWERED_WITHIN = timedelta(hours=24)  # then the run goes on without what the agent asked for
LOST_ATTEMPTS = 5  # a step that ended so many workers is not given to another


@dataclass(frozen=True)
class Claimed:
    """A step that this worker, and no other, may record the end of."""

    step_pk: int
    attempt: int
    agent: str
    prompt: Prompt
    consent_pk: int
    subject: Subject
    person: str  # whom the prompt is about, in its words


def run_through(run_pk: int) -> None:
    """One step after another, until the run has ended, another worker is at it, or this process is about to end."""
    while not shutdown.has_begun() and (claimed := claim_step(run_pk)) is not None:
        with _renewed_lease(claimed):
            ended = _call_agent(claimed)
        if ended is None:
            put_back(claimed)
        else:
            record_step(claimed, ended)


def claim_step(run_pk: int) -> Claimed | None:
    """The next step of the run, now this worker's; or None, and where no step is left the run has its result."""
    with transaction.atomic():
        unfinished = Run.objects.select_for_update().filter(status__in=UNFINISHED_RUNS, purge_at__gt=Now())
        run = unfinished.filter(pk=run_pk).first()
        if run is None:
            return None
        now = database_now()
        step = _next_step(run, now)
        if step is not None and step.lease_until is not None and step.lease_until > now:
            return None
        if not consents.is_live(run.consent, AGENTS[step.agent].purpose if step else None):
            end_early(run, "consent_withdrawn", now)
            return None
        if step is None:
            finish(run, now)
            return None
        if _reads_purchases(run, step) and linked_items.are_purchases_coming(run.user):
            return None  # a moment later they may be there
        return _claimed(run, step, now)


def _next_step(run: Run, now: datetime) -> Step | None:
    """The first step that has not ended; one that took several workers with it, or asked in vain, ends here."""
    for step in run.steps.filter(status__in=UNFINISHED_STEPS).order_by("position"):
        is_over = step.lease_until is not None and step.lease_until <= now
        is_question = step.status == StepStatus.INPUT_REQUIRED
        if not is_over or not (is_question or step.attempt % LOST_ATTEMPTS == 0):
            return step
        step.status, step.lease_until, step.finished_at = StepStatus.FAILED, None, now
        step.error_code = "not_answered" if is_question else "worker_lost"
        step.save()
    return None


def _claimed(run: Run, step: Step, now: datetime) -> Claimed:
    step.status, step.attempt = StepStatus.RUNNING, step.attempt + 1
    step.lease_until = now + timedelta(seconds=settings.ANALYSIS_LEASE_SECONDS)
    step.started_at = step.started_at or now
    step.arrived = None
    step.save(update_fields=["status", "attempt", "lease_until", "started_at", "arrived"])
    run.status, run.started_at = RunStatus.RUNNING, run.started_at or now
    run.save(update_fields=["status", "started_at", "updated_at"])
    signals = linked_items.financial_signals(run.user) if _reads_purchases(run, step) else None
    subject = subject_from(named_by(run.consent, verified_by(run.user_id)), run.user_id)
    submitted = json.loads(encryption.opened(run.input))
    is_own = number_of(submitted) in subject.phone_numbers
    text = profile_prompt(submitted, signals, with_number=is_own)
    prompt = Prompt(text, session_id(run), step.task_id)
    person = "\n".join(person_of(submitted, with_number=is_own).values())
    if step.conversation is not None:
        stored = json.loads(encryption.opened(step.conversation))
        conversation = Conversation(stored["taskId"], stored["contextId"], stored.get("turn", 1))
        prompt = replace(prompt, text=stored["answer"], conversation=conversation)
        person = stored["answer"]
    return Claimed(step.pk, step.attempt, step.agent, prompt, run.consent_id, subject, person)


def _reads_purchases(run: Run, step: Step) -> bool:
    """Purchases go to the agents that read them alone, and only under a consent of their own."""
    return AGENTS[step.agent].reads_purchases and reads_purchases(run)


def reads_purchases(run: Run) -> bool:
    """What a site has analysed under its token holds the person's purchases only where that token covers them."""
    return run.consent.reach != Reach.SITE or Purpose.FINANCIAL.value in run.consent.purposes


def session_id(run: Run) -> str:
    """One session per run, in the form that the specification gives (`session-<digits>`)."""
    return f"session-{int.from_bytes(hashlib.sha256(run.analysis_id.encode()).digest()[:7], 'big')}"


def _call_agent(claimed: Claimed) -> dict[str, Any] | None:
    """The columns that the step ends with; None where the end of this process cut it off."""
    began = time.perf_counter()
    agent, prompt, consent_pk = claimed.agent, claimed.prompt, claimed.consent_pk
    try:
        subject = claimed.subject.for_prompt(claimed.person)
        arrived = partial(_note_arrived, claimed)
        answer = calls.call_agent(agent, prompt, consent_pk=consent_pk, about=subject, admitted=False, arrived=arrived)
    except (ConsentRequired, NotConfigured, SubjectMismatch, CallFailed) as error:
        if isinstance(error, UpstreamTimeout) and not shutdown.time_left():
            return None
        return {"status": StepStatus.FAILED, "error_code": error.reason, "duration_ms": _since(began)}
    return {**_ending(answer), "reply": encryption.sealed(answer.body.decode()), "duration_ms": _since(began)}


def _note_arrived(claimed: Claimed, count: int) -> None:
    """Write down that an answer comes in, whenever twice as much of it is there: few writes, however long it is."""
    if count & (count - 1):
        return
    mine = Step.objects.filter(pk=claimed.step_pk, attempt=claimed.attempt, status=StepStatus.RUNNING)
    try:
        mine.update(arrived=count)
    except DatabaseError:
        return  # the answer itself is not given up for that
    finally:
        if not connection.in_atomic_block:
            connection.close()


def _ending(answer: Reply) -> dict[str, Any]:
    """The columns that say what came of an answer."""
    if answer.conversation is not None:
        conversation = answer.conversation
        named = {"taskId": conversation.task_id, "contextId": conversation.context_id, "turn": conversation.turn}
        question = {"question": answer.question, **named}
        return {"status": StepStatus.INPUT_REQUIRED, "conversation": encryption.sealed(json.dumps(question))}
    reading = reading_of(json.loads(answer.body))
    account = {**reading.account, **({"unquoted": answer.dropped} if answer.dropped else {})}
    if answer.state == "auth-required":
        account["state"] = answer.state
    kept = encryption.sealed(json.dumps(account)) if account else None
    columns: dict[str, Any] = {"reading": kept, "repaired": reading.repaired}
    if reading.fields is None:
        return {**columns, "status": StepStatus.FAILED, "error_code": reading.error_code}
    columns["field_count"] = len(reading.fields)
    if not reading.fields:
        return {**columns, "status": StepStatus.EMPTY}
    return {**columns, "status": StepStatus.SUCCEEDED, "fields": encryption.sealed(json.dumps(reading.fields))}


def _since(began: float) -> int:
    return round((time.perf_counter() - began) * 1000)


def put_back(claimed: Claimed) -> None:
    """Give up the lease: the next worker to look asks again, under the same task id."""
    mine = Step.objects.filter(pk=claimed.step_pk, attempt=claimed.attempt, status=StepStatus.RUNNING)
    mine.update(lease_until=database_now())


def record_step(claimed: Claimed, ended: dict[str, Any]) -> bool:
    """Write down how a claimed step ended; False where the run was cancelled or another worker claimed the step.

    Consent is asked for once more: what an agent answers after it was withdrawn is dropped (contract 4.2, "at once").
    """
    with transaction.atomic():
        run = Run.objects.select_for_update().filter(steps=claimed.step_pk, status__in=UNFINISHED_RUNS).first()
        if run is None:
            return False
        mine = Step.objects.filter(pk=claimed.step_pk, attempt=claimed.attempt, status=StepStatus.RUNNING)
        now = database_now()
        if mine.exists() and not consents.is_live(run.consent, AGENTS[claimed.agent].purpose):
            end_early(run, "consent_withdrawn", now)
            return False
        is_question = ended["status"] == StepStatus.INPUT_REQUIRED
        times = {"lease_until": now + ANSWERED_WITHIN} if is_question else {"lease_until": None, "finished_at": now}
        recorded = mine.update(**ended, **times) == 1
        if recorded:
            Run.objects.filter(pk=run.pk).update(updated_at=now)
    return recorded


def abandoned_runs(*, limit: int = 50) -> list[int]:
    """Runs that have not ended and that no worker holds: their worker died, or nobody was told of them.

    Who asked takes turns, an app for all its people or a person by themselves, so that many of one hold up no other.
    """
    requester: list[Any] = [F("consent__app"), Case(When(consent__app=None, then="user"))]
    turn = Window(RowNumber(), partition_by=requester, order_by="pk")
    ordered = _abandoned(database_now()).annotate(turn=turn).order_by("turn", "pk")
    return list(ordered.values_list("pk", flat=True)[:limit])


def is_due() -> bool:
    """Whether there are any such runs."""
    return _abandoned(database_now()).exists()


def _abandoned(now: datetime) -> QuerySet[Run]:
    leased = Step.objects.filter(run=OuterRef("pk"), status__in=LEASED_STEPS, lease_until__gt=now)
    waiting = Run.objects.filter(status__in=UNFINISHED_RUNS, updated_at__lt=now - FORSAKEN_AFTER, purge_at__gt=now)
    return waiting.filter(~Exists(leased))


@contextmanager
def _renewed_lease(claimed: Claimed) -> Iterator[None]:
    """Renews the lease from a thread of its own for as long as this lasts; it ends with this process."""
    done = threading.Event()
    renewing = threading.Thread(target=_renew, args=(claimed, done), name="analysis-lease", daemon=True)
    renewing.start()
    try:
        yield
    finally:
        done.set()
        renewing.join()


def _renew(claimed: Claimed, done: threading.Event) -> None:
    lease = settings.ANALYSIS_LEASE_SECONDS
    mine = Step.objects.filter(pk=claimed.step_pk, attempt=claimed.attempt, status=StepStatus.RUNNING)
    while not done.wait(lease / RENEWALS):
        try:
            if not mine.update(lease_until=database_now() + timedelta(seconds=lease)):
                return
        except DatabaseError:
            continue  # tried again before the lease runs out
        finally:
            connection.close()
