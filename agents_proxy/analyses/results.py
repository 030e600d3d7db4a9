"""What comes of an analysis: each answer read once, all of them merged, and the run's end."""

import json
from datetime import datetime
from typing import Any

from agents_proxy.analyses.merging import Merged, measures, merge, metadata
from agents_proxy.analyses.models import Run, Step
from agents_proxy.proxy.envelope import unwrapped
from agents_proxy.proxy.replies import Reading, read_reply
from agents_proxy.states import RunStatus, StepStatus
from common import encryption


def reading_of(answer: dict[str, Any]) -> Reading:
    """`answer` is the JSON-RPC object that the step keeps."""
    return read_reply({"result": unwrapped(answer["result"])} if "result" in answer else answer)


def merged_of(steps: list[Step]) -> Merged:
    """One profile of what the steps' agents said."""
    return merge({step.agent: _fields(step) for step in steps if step.status == StepStatus.SUCCEEDED})


def _fields(step: Step) -> dict[str, Any]:
    """What a step that succeeded came to."""
    kept: dict[str, Any] = json.loads(encryption.opened(str(step.fields)))
    return kept


def finish(run: Run, now: datetime) -> None:
    """End a run that the caller holds locked, all of whose steps have ended."""
    steps = list(run.steps.all())
    succeeded = [step for step in steps if step.status == StepStatus.SUCCEEDED]
    merged = merged_of(succeeded)
    if len(succeeded) == len(steps):
        run.status = RunStatus.COMPLETED
    else:
        run.status = RunStatus.COMPLETED_WITH_ERRORS if succeeded else RunStatus.FAILED
    run.profile = encryption.sealed(json.dumps(merged.profile))
    run.provenance = merged.provenance
    answered = [step.duration_ms for step in steps if step.reply is not None and step.duration_ms is not None]
    run.metadata = {**metadata(merged.profile, answered), **measures(merged)}
    run.started_at, run.finished_at = run.started_at or now, now
    run.save()
