"""The person's own word on what agents say: it stands in every analysis of theirs, and the update agent is told of it.

The rows are the queue: `due_at` is when it is told, and while a worker tells it, when their lease ends.
"""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Min, QuerySet

from accounts.models import User
from agents_proxy.agents import AGENTS
from agents_proxy.analyses.models import Correction, Run
from agents_proxy.analyses.profile_calls import UPDATE, update_text
from agents_proxy.analyses.queries import opened_json, own_run
from agents_proxy.analyses.results import keep_result, own_values
from agents_proxy.errors import Refusal, SubjectMismatch
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.identifiers import Identifiers, folded, require_verified, verified_by
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy import calls
from agents_proxy.proxy.envelope import Prompt, new_session_id, new_task_id
from agents_proxy.proxy.subjects import Subject, subject_from
from agents_proxy.signals import profile_corrected
from agents_proxy.states import UNFINISHED_RUNS
from common import encryption
from common.broker import enqueue
from common.clock import database_now
from common.problems import InvalidRequest
from common.sql.statements import lock_for_transaction

# After each failed attempt; after the last one the agent is told no more. An update may be repeated: it says the same.
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (30, 300, 3600, 18000))
MOST_FIELDS = 500  # of one person: every analysis of theirs has all of them
SEND_TASK = "agents_proxy.tasks.tell_corrections"
_AT_ONCE = 100  # people of one run
_INSTRUCTION = "The person corrected these values. What is null here is not true of them: delete it."


def correct(*, by: User, analysis_id: str, changes: Mapping[str, Any]) -> tuple[Run, list[str]]:
    """Keep what this person says of fields: a value of theirs, or None where what agents say is not true.

    It stands in this analysis and in every later one. The update agent is told under the consent to this analysis, or
    another of the person's own, where one covers it; destinations that got the old value get the new one under theirs.
    Returns the analysis, and the destinations that have the old value and only a new consent lets be told.

    Raises `UnknownAnalysis`, `AddressNotVerified` for an address or a number that is not verified as theirs, and
    `InvalidRequest` where they have corrected too many fields.
    """
    require_own(by, changes)
    with transaction.atomic():
        _one_at_a_time(by.pk)
        run = own_run(by, analysis_id, lock=True)
        now = database_now()
        under = _covering(by, run)
        for name, value in changes.items():
            kept = {
                "value": None if value is None else encryption.sealed(json.dumps(value)),
                "at": now,
                "consent_id": under,
                "due_at": None if under is None else now,
                "attempts": 0,
            }
            Correction.objects.update_or_create(user=by, field=name, defaults=kept)
        if Correction.objects.filter(user=by).count() > MOST_FIELDS:
            raise InvalidRequest(f"At most {MOST_FIELDS} fields can be corrected; take others back first.")
        if under is not None:
            transaction.on_commit(partial(enqueue, SEND_TASK, by.pk))
        return run, _restate(run)


def take_back(*, by: User, analysis_id: str, field: str) -> Run:
    """Let agents say again what this field is, here and in later analyses. Raises `UnknownAnalysis`."""
    with transaction.atomic():
        _one_at_a_time(by.pk)
        run = own_run(by, analysis_id, lock=True)
        Correction.objects.filter(user=by, field=field).delete()
        _without_own(run, field)
        _restate(run)
        return run


def _without_own(run: Run, field: str) -> None:
    submitted = opened_json(run.input)
    if own_values(submitted).pop(field, None) is not None:
        run.input = encryption.sealed(json.dumps(submitted))
        run.save(update_fields=["input", "updated_at"])


def _one_at_a_time(user_pk: int) -> None:
    """A person's corrections are one for all of their analyses, and would wait for each other in any order."""
    lock_for_transaction(f"corrections of {user_pk}")


def _restate(run: Run) -> list[str]:
    """Merge an analysis that has ended once more, and have those told who got what it said before."""
    if run.status in UNFINISHED_RUNS or run.profile is None:
        return []
    before = opened_json(run.profile)
    keep_result(run, list(run.steps.all()))
    run.save(update_fields=["profile", "provenance", "metadata", "updated_at"])
    receivers: list[tuple[Any, Any]] = profile_corrected.send(sender=Run, run=run, before=before)
    return [name for _, names in receivers for name in names]


def require_own(by: User, changes: Mapping[str, Any]) -> None:
    """An address or a number is its person's own word where they verified it. Raises `AddressNotVerified`."""
    email, phone = changes.get("email"), changes.get("phone")
    named = Identifiers((folded(str(email)),) if email else (), (str(phone),) if phone else ())
    require_verified(named, verified_by(by.pk))


def _covering(by: User, run: Run) -> int | None:
    """The consent under which the update agent may be told; None where there is none, or no such agent."""
    purpose = AGENTS[UPDATE].purpose
    if not settings.AGENTS[UPDATE]["url"]:
        return None
    return run.consent_id if consents.is_live(run.consent, purpose) else consents.own(by, purpose)


def _due(now: datetime) -> QuerySet[Correction]:
    return Correction.objects.filter(due_at__lte=now)


def is_due() -> bool:
    """Whether the agent is to be told of anything now."""
    return _due(database_now()).exists()


def people_with_due_corrections() -> list[int]:
    """The keys of those whose corrections are due, whoever waits longest first."""
    waiting = _due(database_now()).values("user").annotate(first=Min("due_at")).order_by("first")
    return list(waiting.values_list("user", flat=True)[:_AT_ONCE])


def send_corrections(user_pk: int) -> None:
    """Tell the update agent in one call of what is due of this person; never raises for what the other side does."""
    claimed = _claim(user_pk)
    if not claimed:
        return
    consent = claimed[0].consent
    done = consent is None or not consents.is_live(consent, AGENTS[UPDATE].purpose) or _is_delivered(consent, claimed)
    for row in claimed:
        pause = PAUSES[row.attempts - 1] if row.attempts <= len(PAUSES) and not done else None
        mine = Correction.objects.filter(pk=row.pk, attempts=row.attempts, at=row.at)
        mine.update(due_at=None if pause is None else database_now() + pause)


def _claim(user_pk: int) -> list[Correction]:
    """Those that are due under one consent, leased for longer than the call can take."""
    with transaction.atomic():
        _one_at_a_time(user_pk)
        now = database_now()
        related = _due(now).filter(user=user_pk).select_related("consent").select_for_update(of=("self",))
        found = list(related.order_by("pk"))
        mine = [row for row in found if row.consent_id == found[0].consent_id]
        lease = timedelta(seconds=settings.AGENTS[UPDATE]["timeout"]) * 2
        for row in mine:
            row.attempts += 1
            Correction.objects.filter(pk=row.pk).update(attempts=row.attempts, due_at=now + lease)
    return mine


def _is_delivered(consent: ProcessingConsent, rows: list[Correction]) -> bool:
    """Whether the agent took it, or never will."""
    named = consents.named_subject(consent.pk)
    if not named.all:
        return True
    subject = subject_from(named, consent.user_id)
    corrections = [{row.field: opened_json(row.value)} for row in rows]
    fields = {name: value for each in corrections if not _names_others(subject, each) for name, value in each.items()}
    if not fields:
        return True
    text = update_text(named.all[0], instruction=_INSTRUCTION, fields=fields)
    prompt = Prompt(text, new_session_id(), new_task_id())
    try:
        about = subject.for_prompt(text)
        answer = calls.call_agent(UPDATE, prompt, consent_pk=consent.pk, about=about, admitted=False)
    except Refusal:
        return False
    return "result" in json.loads(answer.body)


def _names_others(subject: Subject, fields: Mapping[str, Any]) -> bool:
    """Whether it names an address or a number that the consent does not: no agent is told that."""
    try:
        subject.for_prompt(json.dumps(fields, ensure_ascii=False))
    except SubjectMismatch:
        return True
    return False
