"""What the pages of analyses show, put together for their templates."""

import json
import unicodedata
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.formats import number_format
from django.utils.translation import gettext

from accounts.database import database_now
from agents_proxy import activation, analyses, consents
from agents_proxy.affinity import affinity_of
from agents_proxy.models import Run, Step
from agents_proxy.results import merged_of
from agents_proxy.spelling import canonical
from agents_proxy.statements import statement
from agents_proxy.states import RunStatus, StepStatus
from agents_proxy.web import showing, words
from agents_proxy.workflow import AGREED_TO

if TYPE_CHECKING:
    from accounts.models import User

_MOST_LISTED = 100
_STATES = {"waiting": "todo", "running": "current", "succeeded": "done", "failed": "failed", "skipped": "skipped"}


def home(user: "User") -> dict[str, Any]:
    """The words that are agreed to, and the person's analyses."""
    kept = timedelta(days=settings.ANALYSIS_RETENTION_DAYS)
    listed = analyses.analyses_of(user, limit=_MOST_LISTED)["analyses"]
    asked = analyses.asked_of(user, [entry["analysisId"] for entry in listed])
    return {
        "statement": statement(AGREED_TO, asks=gettext("This service"), lasts=kept, one_analysis=True),
        "analyses": [
            {
                **entry,
                "asked": asked.get(entry["analysisId"], 0),
                "label": words.RUNS[entry["status"]][0],
                "tone": words.RUNS[entry["status"]][1],
                "created": datetime.fromisoformat(entry["createdAt"]),
                "deleted": datetime.fromisoformat(entry["deletedOn"]),
            }
            for entry in listed
        ],
    }


def progress(run: Run) -> dict[str, Any]:
    """The steps, with the words that the page's script needs as they change."""
    steps = _steps(run)
    asked_at = run.retried_at or run.created_at
    return {
        "run": run,
        "steps": steps,
        "done": sum(step["state"] not in ("todo", "current") for step in steps),
        "elapsed": max(int((database_now() - asked_at).total_seconds()), 0),
        "words": {
            "states": {status: str(word) for status, word in words.STEPS.items()},
            "marks": _STATES,
            "reasons": {code: str(reason) for code, reason in words.REASONS.items()},
        },
    }


def _steps(run: Run) -> list[dict[str, Any]]:
    return [
        {
            **analyses.step_body(step),
            **_ending(step),
            "label": words.AGENTS[step.agent],
            "purpose": words.PURPOSES[step.agent],
            "state": _STATES[step.status],
            "seconds": None
            if step.duration_ms is None
            else number_format(round(max(step.duration_ms / 1000, 0.1), 1), 1),
        }
        for step in run.steps.all()
    ]


def _ending(step: Step) -> dict[str, Any]:
    """Where a step stands and why, in words."""
    if step.status == StepStatus.SKIPPED and step.started_at is not None:
        return dict(zip(("word", "reason"), words.STOPPED_MEANWHILE, strict=True))
    return {"word": words.STEPS[StepStatus(step.status)], "reason": words.REASONS.get(step.error_code, "")}


def result(run: Run) -> dict[str, Any]:
    """The merged profile with who said what, or why there is none."""
    steps = _steps(run)
    merged = merged_of(list(run.steps.all()) if run.profile is not None else [])
    about = run.metadata or {}
    affinity = affinity_of(merged.profile)
    sends = affinity.affinity.says_anything and activation.destination()
    live = consents.is_live(run.consent)
    return {
        "run": run,
        "label": words.RUNS[run.status][0],
        "tone": words.RUNS[run.status][1],
        "steps": steps,
        "failed": [step for step in steps if step["status"] == "failed"],
        "retriable": live and run.status in (RunStatus.COMPLETED_WITH_ERRORS, RunStatus.FAILED),
        "ended": "" if live else words.PROBLEMS["consent_ended"],
        "sections": showing.sections(merged),
        "total": about.get("total_fields"),
        "response_time": about.get("response_time_ms"),
        "meters": [
            {"label": label, "value": about[name], "meter": showing.meter(about[name])}
            for name, label in (
                ("confidence_score", gettext("Confidence")),
                ("accuracy_score", gettext("Accuracy")),
            )
            if name in about
        ],
        "intents": showing.intent_chart(merged.profile),
        "bars": showing.agent_bars(steps),
        "affinity": affinity.affinity if affinity.affinity.says_anything else None,
        "misfits": [words.label(canonical(name)) for name in affinity.misfits],
        "destination": activation.destination(),
        "activation_statement": activation.statement() if sends else "",
        "sending": activation.next_sending(run) if sends else 0,
    }


def visible(text: str) -> str:
    """JSON's `text` with what would turn or hide it written out as JSON does, so that it still reads as the same."""
    return "".join(
        json.dumps(character)[1:-1] if unicodedata.category(character) == "Cf" else character for character in text
    )
