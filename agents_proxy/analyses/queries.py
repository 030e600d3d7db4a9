"""What can be seen of analyses, always starting from the person they belong to."""

import json
from collections.abc import Sequence
from typing import Any

from django.db.models import Count, QuerySet
from django.db.models.functions import Now

from accounts.models import User
from agents_proxy.analyses.errors import UnknownAnalysis
from agents_proxy.analyses.models import Run, Step
from agents_proxy.processing_consent import identifiers
from agents_proxy.states import UNFINISHED_STEPS, StepStatus
from common import encryption
from common.clock import rfc3339

_ENDED = tuple(status for status in StepStatus if status not in UNFINISHED_STEPS)
_UNSEALED = ("id", "analysis_id", "status", "created_at", "finished_at", "purge_at")


def runs_of(user: User, under: int | None = None) -> QuerySet[Run]:
    """The person's runs whose time is not over; with `under`, those alone that were made with this consent."""
    runs = Run.objects.filter(user=user, purge_at__gt=Now())
    return runs if under is None else runs.filter(consent=under)


def own_run(user: User, analysis_id: str, *, lock: bool = False, under: int | None = None) -> Run:
    """This one of `runs_of`; any other is `UnknownAnalysis`, as if it never was."""
    runs = runs_of(user, under)
    run = (runs.select_for_update() if lock else runs).filter(analysis_id=analysis_id).first()
    if run is None:
        raise UnknownAnalysis()
    return run


def subject_of_run(run: Run) -> identifiers.Identifiers:
    """Whom a run is about; raises `AddressNotVerified` where any of it is its person's no more."""
    own = identifiers.verified_by(run.user_id)
    email = identifiers.Identifiers((identifiers.folded(opened_json(run.input)["email"]),))
    identifiers.require_verified(email, own)
    numbers = identifiers.named_by(run.consent, own).phone_numbers
    if run.consent.number_digest and not numbers:
        raise identifiers.not_verified(identifiers.numbers_url())
    return identifiers.Identifiers(email.emails, numbers)


def status_body(run: Run) -> dict[str, Any]:
    """Contract 4.3, `GET /api/a2a/analyses/{analysisId}`."""
    steps = list(run.steps.all())
    return {
        "analysisId": run.analysis_id,
        "status": run.status,
        "progress": _progress(steps),
        "steps": [step_body(step) for step in steps],
        "profile": opened_json(run.profile),
        "provenance": run.provenance,
        "metadata": run.metadata,
    }


def step_body(step: Step) -> dict[str, Any]:
    has_question = step.status == StepStatus.INPUT_REQUIRED
    return {
        "agent": step.agent,
        "status": step.status,
        "startedAt": rfc3339(step.started_at),
        "durationMs": step.duration_ms,
        "fieldCount": step.field_count,
        "repaired": step.repaired,
        "errorCode": step.error_code or None,
        "question": opened_json(step.conversation)["question"] if has_question else None,
        "answerBy": rfc3339(step.lease_until) if has_question else None,
        "arrived": step.arrived if step.status == StepStatus.RUNNING else None,
        "reading": opened_json(step.reading),
    }


def _progress(steps: list[Step]) -> dict[str, int]:
    return {"done": sum(step.status in _ENDED for step in steps), "total": len(steps)}


def opened_json(sealed: str | None) -> Any:
    """A sealed column's JSON; numbers that JSON does not know come out as their names."""
    return None if sealed is None else json.loads(encryption.opened(sealed), parse_constant=str)


def status_of(user: User, analysis_id: str, *, under: int | None = None) -> dict[str, Any]:
    """Raises `UnknownAnalysis`."""
    return status_body(own_run(user, analysis_id, under=under))


def analyses_of(user: User, *, cursor: str | None = None, limit: int = 50, under: int | None = None) -> dict[str, Any]:
    """{"analyses": newest first, without what agents said; "nextCursor"}; an unknown cursor starts at the newest."""
    runs = runs_of(user, under).only(*_UNSEALED, "consent__app__name").select_related("consent__app")
    runs = runs.order_by("-id").prefetch_related("steps")
    if cursor and (before := Run.objects.filter(user=user, analysis_id=cursor).values_list("pk", flat=True).first()):
        runs = runs.filter(pk__lt=before)
    page = list(runs[: limit + 1])
    return {
        "analyses": [
            {
                "analysisId": run.analysis_id,
                "status": run.status,
                "progress": _progress(list(run.steps.all())),
                "createdAt": rfc3339(run.created_at),
                "finishedAt": rfc3339(run.finished_at),
                "deletedOn": rfc3339(run.purge_at),
                "app": run.consent.app.name if run.consent.app else None,
                "inputRequired": any(step.status == StepStatus.INPUT_REQUIRED for step in run.steps.all()),
            }
            for run in page[:limit]
        ],
        "nextCursor": page[limit - 1].analysis_id if len(page) > limit else None,
    }


def done_steps_of(user: User, analysis_ids: Sequence[str]) -> dict[str, int]:
    """Analysis → how many of its agents were asked, whatever came of it; one that is being asked does not count yet."""
    steps = Step.objects.filter(run__user=user, run__analysis_id__in=analysis_ids, status__in=_ENDED)
    called = steps.filter(started_at__isnull=False).order_by().values_list("run__analysis_id")
    return dict(called.annotate(count=Count("pk")))


def raw_of(user: User, analysis_id: str, *, under: int | None = None) -> dict[str, Any]:
    """What went in, what each agent answered in full, and what was made of it. Raises `UnknownAnalysis`."""
    run = own_run(user, analysis_id, under=under)
    steps = list(run.steps.all())
    return {
        "analysisId": run.analysis_id,
        "status": run.status,
        "input": opened_json(run.input),
        "profile": opened_json(run.profile),
        "provenance": run.provenance,
        "results": {
            step.agent: {
                **step_body(step),
                "result": opened_json(step.reply),
                "conversation": opened_json(step.conversation),
            }
            for step in steps
        },
        "metadata": run.metadata,
    }
