"""What the pages of analyses show, put together for their templates."""

import json
import unicodedata
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from accounts.models import User
from agents_proxy.agents import AGENTS, ANALYSIS_AGENTS, ANALYSIS_PURPOSES, upstream_of
from agents_proxy.analyses import profile_view
from agents_proxy.analyses import queries as analysis_queries
from agents_proxy.analyses import words as analysis_words
from agents_proxy.analyses.affinity import affinity_of
from agents_proxy.analyses.exports import EXPORTS
from agents_proxy.analyses.merging import SPECIFIED, Merged, agreement
from agents_proxy.analyses.models import Run, Step
from agents_proxy.analyses.results import corrected, merged_of, own_word_of
from agents_proxy.analyses.values import shown
from agents_proxy.processing_consent import actions as consents
from agents_proxy.proxy.spelling import PROMPT_ATTRIBUTES, canonical
from agents_proxy.statements import OWN_VALUES_USED, Statement, statement
from agents_proxy.states import UNFINISHED_RUNS, RunStatus, StepStatus
from common.clock import database_now
from pkm.registry.vocabulary import for_script
from pkm.vault import queries as vault_queries
from pkm.vault.models import VaultStatus

_MOST_LISTED = 100
_STATES = {
    "waiting": "todo", "running": "current", "input_required": "asking", "succeeded": "done", "empty": "done",
    "failed": "failed", "skipped": "skipped",
}  # fmt: skip


def wording() -> Statement:
    """What somebody agrees to who starts an analysis."""
    kept = timedelta(days=settings.ANALYSIS_RETENTION_DAYS)
    return statement(ANALYSIS_PURPOSES, requester=gettext("This service"), lasts=kept, one_analysis=True)


def home(user: User) -> dict[str, Any]:
    listed = analysis_queries.analyses_of(user, limit=_MOST_LISTED)["analyses"]
    done_steps = analysis_queries.done_steps_of(user, [entry["analysisId"] for entry in listed])
    has_vault = vault_queries.status_of(user) != VaultStatus.ABSENT
    return {
        "agent_count": len(ANALYSIS_AGENTS),
        "own_places": _own_places() if has_vault else None,
        "own_values_used": OWN_VALUES_USED,
        "analyses": [
            {
                **entry,
                "done_steps": done_steps.get(entry["analysisId"], 0),
                **_status_badge(entry),
                "created": datetime.fromisoformat(entry["createdAt"]),
                "deleted": datetime.fromisoformat(entry["deletedOn"]),
            }
            for entry in listed
        ],
    }


def _status_badge(entry: dict[str, Any]) -> dict[str, Any]:
    needs_answer = entry["inputRequired"] and entry["status"] in UNFINISHED_RUNS
    found = analysis_words.NEEDS_ANSWER if needs_answer else analysis_words.RUNS[entry["status"]]
    return dict(zip(("label", "tone"), found, strict=True))


def _own_places() -> dict[str, dict[str, Any]]:
    """`domain.segment.attribute` → the field of the profile that it is, its section, and the words for its value.

    Who somebody is stands in the form itself.
    """
    return {
        one.path: {
            "field": name,
            "group": str(analysis_words.HEADINGS[analysis_words.section_of(name)][0]),
            "word": for_script(one.control, analysis_words.label(name)),
        }
        for name, one in PROMPT_ATTRIBUTES.items()
        if name not in ("full_name", "email", "phone")
    }


def progress(run: Run) -> dict[str, Any]:
    """The steps, with the words that the page's script needs as they change."""
    steps = _steps(run)
    started_at = run.retried_at or run.created_at
    return {
        "run": run,
        "steps": steps,
        "done": sum(step["state"] not in ("todo", "current", "asking") for step in steps),
        "elapsed": max(int((database_now() - started_at).total_seconds()), 0),
        "words": {
            "arriving": str(analysis_words.ARRIVING),
            "states": {status: str(word) for status, word in analysis_words.STEPS.items()},
            "marks": _STATES,
            "reasons": {code: str(reason) for code, reason in analysis_words.REASONS.items()},
        },
    }


def _steps(run: Run) -> list[dict[str, Any]]:
    return [
        {
            **analysis_queries.step_body(step),
            **_ending(step),
            "label": AGENTS[step.agent].title,
            "purpose": AGENTS[step.agent].summary,
            "state": _STATES[step.status],
            "seconds": _in_seconds(step.duration_ms),
        }
        for step in run.steps.all()
    ]


def _in_seconds(milliseconds: int | None) -> str | None:
    """With one digit after the point, as the language writes it; whatever took no time took a tenth."""
    return None if milliseconds is None else number_format(round(max(milliseconds / 1000, 0.1), 1), 1)


def _ending(step: Step) -> dict[str, Any]:
    """Where a step stands and why, in words."""
    if step.status == StepStatus.SKIPPED and step.started_at is not None:
        return dict(zip(("word", "reason"), analysis_words.STOPPED_MEANWHILE, strict=True))
    if step.status == StepStatus.RUNNING and step.arrived:
        return {"word": analysis_words.ARRIVING, "reason": ""}
    reason = analysis_words.REASONS.get(step.error_code, "")
    if step.reading is not None and analysis_queries.opened_json(step.reading).get("state") == "auth-required":
        upstream = upstream_of(step.agent)
        reason = gettext("It has to be authorised first by whoever runs it: %(operator)s.") % {
            "operator": (upstream.contact if upstream else "") or AGENTS[step.agent].title
        }
    return {"word": analysis_words.STEPS[StepStatus(step.status)], "reason": reason}


def _readings(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How each answer was read, as sentences: what was chosen, and what was left out and why."""
    read = [(step["label"], step["reading"]) for step in steps if step["reading"] and "form" in step["reading"]]
    return [{"label": label, "sentences": list(_sentences_of(reading))} for label, reading in read]


def _sentences_of(reading: dict[str, Any]) -> Iterator[str]:
    form = str(analysis_words.FORMS[reading["form"]])
    several = reading["candidates"]
    found = ngettext("Found %(form)s.", "Of %(count)s objects the fullest was taken; it stood %(form)s.", several)
    yield found % {"count": several, "form": form}
    if reading["draft"]:
        yield gettext("It stood among the agent's thoughts.")
    if reading["repaired"]:
        yield gettext("It was no valid JSON and had to be repaired.")
    if reading["converted"]:
        converted = {"names": _labels(reading["converted"])}
        yield gettext("Written as a number, or as yes or no, where words said it: %(names)s.") % converted
    for why, word in analysis_words.DROPPED.items():
        if names := [one["name"] for one in reading["dropped"] if one["why"] == why]:
            yield gettext("Left out, since they %(why)s: %(names)s.") % {"why": word, "names": _labels(names)}
    if count := reading.get("unquoted", 0):
        left = ngettext(
            "%(count)s value was left out: nothing that the agent was given says it.",
            "%(count)s values were left out: nothing that the agent was given says them.",
            count,
        )
        yield left % {"count": count}
    if (rest := reading["droppedCount"] - len(reading["dropped"])) > 0:
        yield ngettext("%(count)s more was left out.", "%(count)s more were left out.", rest) % {"count": rest}


def _labels(names: list[str]) -> str:
    return ", ".join(analysis_words.label(canonical(name)) for name in names)


def result(run: Run) -> dict[str, Any]:
    """The merged profile with who said what, or why there is none."""
    steps = _steps(run)
    corrections = own_word_of(run) if run.profile is not None else {}
    merged = corrected(merged_of(list(run.steps.all()) if run.profile is not None else []), corrections)
    about = run.metadata or {}
    affinity = affinity_of(merged.profile)
    live = consents.is_live(run.consent)
    return {
        "run": run,
        "label": analysis_words.RUNS[run.status][0],
        "tone": analysis_words.RUNS[run.status][1],
        "steps": steps,
        "failed": [step for step in steps if step["status"] == "failed"],
        "readings": _readings(steps),
        "retriable": live and run.status in (RunStatus.COMPLETED_WITH_ERRORS, RunStatus.FAILED),
        "ended": "" if live else analysis_words.PROBLEMS["consent_ended"],
        "sections": profile_view.sections(merged),
        "refused": [(name, analysis_words.label(name)) for name, value in corrections.items() if value is None],
        "measures": _measures(about, merged),
        "intents": profile_view.timeline(merged),
        "legend": profile_view.legend(steps, merged),
        "affinity": affinity.affinity if affinity.affinity.has_preferences else None,
        "misfits": [analysis_words.label(canonical(name)) for name in affinity.misfits],
    }


def affinity(run: Run) -> dict[str, Any]:
    """The brand affinity in words, and the forms in which it can be saved."""
    found = affinity_of(analysis_queries.opened_json(run.profile) or {})
    body = found.affinity.body() if found.affinity.has_preferences else {}
    return {
        "run": run,
        "misfits": [analysis_words.label(canonical(name)) for name in found.misfits],
        "shown": [
            (analysis_words.label(canonical(name)), shown(value, canonical(name))) for name, value in body.items()
        ],
        "exports": [export for export in EXPORTS.values() if export.written(found.affinity) is not None],
    }


def _measures(about: dict[str, Any], merged: Merged) -> list[dict[str, Any]]:
    """What is known of the whole, each with a line that says what it is; nothing before an analysis ended.

    How much is filled and where agents agree come before what agents say of themselves: 100 % of four fields is little.
    """
    found = []
    if (coverage := about.get("coverage")) is not None:
        counted = {"some": round(coverage * len(SPECIFIED)), "all": len(SPECIFIED)}
        found.append(_share("coverage", gettext("Filled in"), counted, coverage, gettext("of a full profile")))
    if (agreed := about.get("agreement")) is not None:
        counted = dict(zip(("some", "all"), agreement(merged), strict=True))
        where = gettext("where several agents speak")
        found.append(_share("agreement", gettext("Agreement"), counted, agreed, where))
    for name, label, explained in (
        ("confidence_score", gettext("Confidence score"), gettext("what agents say of themselves")),
        ("accuracy_score", gettext("Accuracy score"), gettext("checked, as agents say")),
    ):
        if name in about:
            meter = profile_view.meter(about[name])
            text = f"{meter['percent']} %" if meter else str(about[name])
            found.append({"key": name, "label": label, "text": text, "meter": meter, "explained": explained})
    if "total_fields" in about:
        counted = {"key": "total_fields", "label": gettext("Total fields"), "text": str(about["total_fields"])}
        found.append({**counted, "meter": None, "explained": gettext("that agents gave, of any name")})
    if seconds := _in_seconds(about.get("response_time_ms")):
        taken = {"key": "response_time", "label": gettext("Response time"), "text": f"{seconds} s"}
        found.append({**taken, "meter": None, "explained": gettext("of an agent on average")})
    return found


def _share(key: str, label: str, counted: dict[str, int], share: float, explained: str) -> dict[str, Any]:
    text = gettext("%(some)s of %(all)s fields") % counted
    return {"key": key, "label": label, "text": text, "meter": profile_view.meter(share), "explained": explained}


def visible(text: str) -> str:
    """JSON's `text` with what would turn or hide it written out as JSON does, so that it still reads as the same."""
    return "".join(
        json.dumps(character)[1:-1] if unicodedata.category(character) == "Cf" else character for character in text
    )
