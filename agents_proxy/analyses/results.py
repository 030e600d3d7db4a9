"""What comes of an analysis: each answer read once, all of them merged, and the run's end."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agents_proxy.analyses.merging import Merged, measures, merge, metadata
from agents_proxy.analyses.models import Correction, Run, Step
from agents_proxy.processing_consent.events import notify_app
from agents_proxy.processing_consent.identifiers import folded, named_by, verified_by
from agents_proxy.proxy.envelope import unwrapped
from agents_proxy.proxy.replies import Reading, read_reply
from agents_proxy.states import ANSWERED_STEPS, Reach, RunStatus, StepStatus
from common import encryption
from developers.app_events import ProcessingEvent

PERSON = "person"  # in place of an agent in the provenance of what they said themselves
OWN_VALUES = "ownValues"  # of a run's input


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


def own_word_of(run: Run) -> dict[str, Any]:
    """Field → what its person says of it; None where what agents say is not true.

    Corrections stand in every analysis; what was given for this one stands over those from before it.

    An address or a number of theirs is among them while it is verified, and where a site gets to see the run, only if
    its consent names it.
    """
    rows = Correction.objects.filter(user=run.user_id).order_by("pk")
    corrections = {row: None if row.value is None else json.loads(encryption.opened(row.value)) for row in rows}
    before = {row.field: value for row, value in corrections.items() if row.at < run.created_at}
    since = {row.field: value for row, value in corrections.items() if row.at >= run.created_at}
    found = {**before, **own_values(json.loads(encryption.opened(run.input))), **since}
    if found.get("email") is None and found.get("phone") is None:
        return found
    own = verified_by(run.user_id)
    named = named_by(run.consent, own) if run.consent.reach == Reach.SITE else own
    identifiers = {"email": named.emails, "phone": named.phone_numbers}
    return {
        name: value
        for name, value in found.items()
        if name not in identifiers or value is None or folded(str(value)) in identifiers[name]
    }


def own_values(submitted: Mapping[str, Any]) -> dict[str, Any]:
    """What of a run's input its person gave of their own data: field → value."""
    given: dict[str, Any] = submitted.get(OWN_VALUES, {})
    return given


def corrected(merged: Merged, own_word: Mapping[str, Any]) -> Merged:
    """The same with the person's word in place of the agents'; `answers` stay theirs, as far as anything stands."""
    kept = {name: value for name, value in merged.profile.items() if name not in own_word}
    own = {name: value for name, value in own_word.items() if value is not None}
    provenance = {name: PERSON if name in own else merged.provenance[name] for name in (*kept, *own)}
    return Merged({**kept, **own}, provenance, {name: merged.answers.get(name, []) for name in provenance})


def keep_result(run: Run, steps: list[Step]) -> None:
    """Put into `run` what comes of its steps and of its person's own word."""
    merged = merged_of(steps)
    final = corrected(merged, own_word_of(run))
    run.profile = encryption.sealed(json.dumps(final.profile))
    run.provenance = final.provenance
    answered = [step.duration_ms for step in steps if step.reply is not None and step.duration_ms is not None]
    run.metadata = {**metadata(final.profile, answered), **measures(final)}


def finish(run: Run, now: datetime) -> None:
    """End a run that the caller holds locked, all of whose steps have ended."""
    steps = list(run.steps.all())
    read = [step for step in steps if step.status in ANSWERED_STEPS]
    if len(read) == len(steps):
        run.status = RunStatus.COMPLETED
    else:
        run.status = RunStatus.COMPLETED_WITH_ERRORS if read else RunStatus.FAILED
    keep_result(run, steps)
    run.started_at, run.finished_at = run.started_at or now, now
    run.save()
    event = ProcessingEvent.ANALYSIS_COMPLETED if read else ProcessingEvent.ANALYSIS_FAILED
    notify_app(run.consent, event, status=run.status, at=now, analysis_id=run.analysis_id)
