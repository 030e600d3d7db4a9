"""Asking an agent: holds no database connection meanwhile, and notes that it happened, not what was said."""

import logging
import re
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import orjson
import psycopg
from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from agents_proxy.agents import AGENTS, Protocol, Upstream, upstream_of
from agents_proxy.deletions.actions import record_disclosure, record_return
from agents_proxy.deletions.receivers import Receiver, agent_at
from agents_proxy.errors import CallFailed, ConsentRequired, NotConfigured, SubjectMismatch, TooManyCalls, Unavailable
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy import upstream
from agents_proxy.proxy.assertions import assertion
from agents_proxy.proxy.callers import consent_url
from agents_proxy.proxy.correlation import keep_conversation, kept_apart, open_conversation, principals_of
from agents_proxy.proxy.credentials import secrets_of
from agents_proxy.proxy.envelope import AGENT_FAILED, Prompt, Reply, renamed
from agents_proxy.proxy.events import Arrived
from agents_proxy.proxy.subjects import Subject
from agents_proxy.states import CallOutcome, Reach
from common import metrics
from common.shutdown import shutdown
from common.sql.dialect import timestamp

_log = logging.getLogger(__name__)
LONGEST_SAID = 500  # characters of an upstream's words in the log
# credentials by what they are called, where they stand or how they look, and whom a prompt was about
_HIDDEN = re.compile(
    r"(?P<name>\b(?:bearer|basic)\s+|[\w-]*(?:key|token|secret|passw(?:or)?d|pwd|authorization|cookie|credential)s?"
    r"\\?[\"']?\s*[:=]\s*(?:bearer\s+|basic\s+)?\\?[\"']?)[^\s\"'\\,;&}]+"
    r"|(?<=://)[^/\s@]+@|[^\s\"'\\<>(),:;]+@[^\s\"'\\<>(),:;]+|\+?[0-9][0-9 ()/.-]{6,}[0-9]|\b(?:sk|pk|rk)[-_][\w-]{8,}"
    r"|[A-Za-z0-9_+/=-]{40,}",
    re.IGNORECASE,
)
_NOTE = """
INSERT INTO agent_calls (agent, session_id, task_id, consent_id, started_at, duration_ms, outcome, bytes)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
"""


class _Admission:
    """How many calls this process has under way; the threads that are left serve everybody else."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.count = 0

    @contextmanager
    def admit(self, limit: int) -> Iterator[None]:
        with self._lock:
            if self.count >= limit:
                raise TooManyCalls(headers={"Retry-After": "5"})
            self.count += 1
        try:
            yield
        finally:
            with self._lock:
                self.count -= 1


under_way = _Admission()


def ask(
    agent: str,
    prompt: Prompt,
    *,
    consent_pk: int | None,
    about: Subject | None = None,
    admitted: bool = True,
    arrived: Arrived | None = None,
) -> Reply:
    """What `agent` answers to `prompt`, asked once, of `about`: whoever agreed; None asks about nobody in particular.
    `arrived` is told how many events of a streamed answer there were so far.

    Raises `ConsentRequired` where the consent was withdrawn meanwhile, and `SubjectMismatch` for a reply that names
    others alone.
    Raises `NotConfigured`, and `CallFailed` or one of its kinds. With `admitted` (the proxy's calls) it raises
    `TooManyCalls` where this process has as many under way as it takes; a worker's steps are bounded by the worker.
    Where the process ends, it raises `Unavailable` before an agent is asked, and a call under way is an
    `UpstreamTimeout` once the grace is over.
    """
    target = upstream_of(agent)
    if target is None:
        raise NotConfigured
    if not admitted:
        return _asked(agent, target, prompt, consent_pk, about, arrived)
    if not shutdown.time_left():
        raise Unavailable(headers={"Retry-After": "1"})
    with under_way.admit(settings.A2A_CALLS_IN_FLIGHT):
        return _asked(agent, target, prompt, consent_pk, about, arrived)


def _asked(
    agent: str,
    target: Upstream,
    prompt: Prompt,
    consent_pk: int | None,
    about: Subject | None,
    arrived: Arrived | None,
) -> Reply:
    sent, shown, to = prompt, "", None
    if about is not None and consent_pk is not None:
        consent = ProcessingConsent.objects.only("consent_id", "user", "app", "origin", "reach").get(pk=consent_pk)
        sent = _in_conversation(agent, target, kept_apart(prompt, principals_of(consent)))
        to = agent_at(agent, target)
        if not record_disclosure(consent_pk=consent_pk, to=to, told=about.told):
            origin = consent.origin if consent.reach == Reach.SITE else None
            raise ConsentRequired(consent_url=consent_url(AGENTS[agent].purpose, origin))
        shown = assertion(agent, target, sent, about, consent)
    if not connection.in_atomic_block:
        connection.close()  # back to the pool, for as long as the agent takes
    started, clock = timezone.now(), time.monotonic()
    outcome, size = CallOutcome.UPSTREAM_UNAVAILABLE, 0
    try:
        reply = upstream.call(target, sent, shown, arrived)
        outcome, size = _outcome(reply), reply.size
        if outcome is not CallOutcome.ANSWERED:
            tell_operator(agent, prompt, outcome, reply.said)
        if reply.dropped:
            _log.info("the agent %s gave %d values that the prompt does not say", agent, reply.dropped)
        if about is not None:
            _keep_conversation(agent, target, sent, reply)
            if not about.is_named_in(reply.result):
                raise SubjectMismatch
        return renamed(reply, {sent.session_id: prompt.session_id, sent.task_id: prompt.task_id})
    except CallFailed as failure:
        outcome = CallOutcome(failure.name)
        tell_operator(agent, prompt, outcome, failure.said)
        raise
    finally:
        milliseconds = int((time.monotonic() - clock) * 1000)
        metrics.AGENT_CALLS.labels(agent, outcome.value).inc()
        begun = timestamp(started)
        columns = [agent, prompt.session_id, prompt.task_id, consent_pk, begun, milliseconds, outcome.value, size]
        _note(columns, consent_pk, to)


def _in_conversation(agent: str, target: Upstream, prompt: Prompt) -> Prompt:
    """Whoever calls again under the identifiers of a task that asked something back, answers it."""
    if target.protocol is not Protocol.A2A or prompt.conversation is not None:
        return prompt
    return replace(prompt, conversation=open_conversation(agent, prompt))


def _keep_conversation(agent: str, target: Upstream, sent: Prompt, reply: Reply) -> None:
    if target.protocol is Protocol.A2A and (sent.conversation or reply.conversation):
        keep_conversation(agent, sent, reply.conversation)


def _outcome(reply: Reply) -> CallOutcome:
    if reply.error_code is None:
        return CallOutcome.ANSWERED
    return CallOutcome.AGENT_FAILED if reply.error_code == AGENT_FAILED else CallOutcome.AGENT_ERROR


def tell_operator(agent: str, prompt: Prompt, outcome: CallOutcome, said: str) -> None:
    """What an upstream says of its failure stands in the log, and nowhere else: cut, without secrets and people."""
    target = upstream_of(agent)
    secrets = (prompt.text, orjson.dumps(prompt.text).decode()[1:-1], *(secrets_of(target) if target else ()))
    told = without_secrets(said, secrets) or "nothing more is known"
    _log.warning("the agent %s failed (%s): %s", agent, outcome.value, told)


def without_secrets(said: str, secrets: Iterable[str]) -> str:
    """An upstream's words as an operator may read them: without these, and without what looks like one; cut."""
    for secret in secrets:
        said = said.replace(secret, "[redacted]")
    # cut before, too: some of what is looked for takes a time that grows with the square of the length
    return _HIDDEN.sub(_hidden, said[: 2 * LONGEST_SAID])[:LONGEST_SAID]


def _hidden(match: re.Match[str]) -> str:
    return f"{match['name'] or ''}[redacted]"


def _note(columns: list[Any], consent_pk: int | None, to: Receiver | None) -> None:
    """The agent was asked already: an answer is not thrown away because this row cannot be written."""
    try:
        if consent_pk is not None and to is not None:
            record_return(consent_pk=consent_pk, to=to)
        with connection.cursor() as cursor:
            cursor.execute(_NOTE, columns)
    except (DatabaseError, psycopg.Error):
        _log.exception("a call to the agent %s could not be noted", columns[0])
