"""Asking an agent: holds no database connection meanwhile, and notes that it happened, not what was said."""

import json
import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
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
from agents_proxy.proxy.replies import read_reply
from agents_proxy.proxy.spelling import PROMPT_ATTRIBUTES
from agents_proxy.proxy.subjects import Subject
from agents_proxy.states import CallOutcome, Reach
from common import metrics
from common.shutdown import shutdown
from common.sql.dialect import timestamp

_log = logging.getLogger(__name__)
LONGEST_DETAIL = 500  # characters of an upstream's words in the log
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
VALUES (%s, %s, %s, (SELECT id FROM processing_consents WHERE id = %s), %s, %s, %s, %s)
"""  # of nobody where they were erased meanwhile


class _Admission:
    """How many calls this process has under way; the threads that are left serve everybody else.

    One agent leaves a tenth of the places: while it does not answer, others are asked.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.count = 0
        self._of_agents: Counter[str] = Counter()

    @contextmanager
    def admit(self, agent: str, limit: int) -> Iterator[None]:
        with self._lock:
            if self.count >= limit or self._of_agents[agent] >= max(1, limit - limit // 10):
                raise TooManyCalls(headers={"Retry-After": "5"})
            self.count += 1
            self._of_agents[agent] += 1
        try:
            yield
        finally:
            with self._lock:
                self.count -= 1
                self._of_agents[agent] -= 1


under_way = _Admission()


def call_agent(
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
    `TooManyCalls` where this process has as many under way as it takes, in all or of this agent; a worker's steps are
    bounded by the worker.
    Where the process ends, it raises `Unavailable` before an agent is asked, and a call under way is an
    `UpstreamTimeout` once the grace is over.
    """
    target = upstream_of(agent)
    if target is None:
        raise NotConfigured
    call = _Call(agent, target, prompt, consent_pk, about)
    if not admitted:
        return call.make(arrived)
    if not shutdown.time_left():
        raise Unavailable(headers={"Retry-After": "1"})
    with under_way.admit(agent, settings.A2A_CALLS_IN_FLIGHT):
        return call.make(arrived)


@dataclass
class _Call:
    """One prompt to one agent. `sent` is the prompt as the agent gets it, `shown` the assertion of consent with it."""

    agent: str
    target: Upstream
    prompt: Prompt
    consent_pk: int | None
    about: Subject | None
    sent: Prompt = field(init=False)
    shown: str = ""
    receiver: Receiver | None = None

    def make(self, arrived: Arrived | None) -> Reply:
        """Ask, and note that it was asked, whatever comes of it."""
        self._prepare()
        if not connection.in_atomic_block:
            connection.close()  # back to the pool, for as long as the agent takes
        started, clock = timezone.now(), time.monotonic()
        outcome, size = CallOutcome.UPSTREAM_UNAVAILABLE, 0
        try:
            reply = upstream.call(self.target, self.sent, self.shown, arrived)
            outcome, size = _outcome(reply), reply.size
            self._check(reply, outcome)
            return renamed(
                reply, {self.sent.session_id: self.prompt.session_id, self.sent.task_id: self.prompt.task_id}
            )
        except CallFailed as failure:
            outcome = CallOutcome(failure.reason)
            log_failure(self.agent, self.prompt, outcome, failure.upstream_text)
            raise
        finally:
            milliseconds = int((time.monotonic() - clock) * 1000)
            metrics.AGENT_CALLS.labels(self.agent, outcome.value).inc()
            self._note(timestamp(started), milliseconds, outcome, size)

    def _prepare(self) -> None:
        """Name the receiver of what is about somebody, and what their consent says; raises `ConsentRequired`."""
        self.sent = self.prompt
        if self.about is None or self.consent_pk is None:
            return
        consent = ProcessingConsent.objects.only("consent_id", "user", "app", "origin", "reach").get(pk=self.consent_pk)
        self.sent = _in_conversation(self.agent, self.target, kept_apart(self.prompt, principals_of(consent)))
        self.receiver = agent_at(self.agent, self.target)
        if not record_disclosure(
            consent_pk=self.consent_pk, to=self.receiver, identifiers=self.about.disclosed_identifiers
        ):
            origin = consent.origin if consent.reach == Reach.SITE else None
            raise ConsentRequired(consent_url=consent_url(AGENTS[self.agent].purpose, origin))
        self.shown = assertion(self.agent, self.target, self.sent, self.about, consent)

    def _check(self, reply: Reply, outcome: CallOutcome) -> None:
        """Tell the operator what they should know of a reply; raises `SubjectMismatch`."""
        if outcome is not CallOutcome.ANSWERED:
            log_failure(self.agent, self.prompt, outcome, reply.upstream_text)
        if reply.dropped:
            _log.info("the agent %s gave %d values that the prompt does not say", self.agent, reply.dropped)
        if self.about is not None:
            _keep_conversation(self.agent, self.target, self.sent, reply)
            if not self.about.is_named_in(reply.result):
                raise SubjectMismatch

    def _note(self, begun: Any, milliseconds: int, outcome: CallOutcome, size: int) -> None:
        """The agent was asked already: an answer is not thrown away because this row cannot be written."""
        row = [self.agent, self.prompt.session_id, self.prompt.task_id, self.consent_pk, begun, milliseconds,
               outcome.value, size]  # fmt: skip
        try:
            if self.consent_pk is not None and self.receiver is not None:
                record_return(consent_pk=self.consent_pk, to=self.receiver)
            with connection.cursor() as cursor:
                cursor.execute(_NOTE, row)
        except (DatabaseError, psycopg.Error):
            _log.exception("a call to the agent %s could not be noted", self.agent)


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


def log_failure(agent: str, prompt: Prompt, outcome: CallOutcome, detail: str) -> None:
    """What an upstream says of its failure stands in the log, and nowhere else: cut, without secrets and people."""
    target = upstream_of(agent)
    secrets = (prompt.text, orjson.dumps(prompt.text).decode()[1:-1], *(secrets_of(target) if target else ()))
    count = _profile_fields_in(detail)
    words = f"what came has {count} fields of a profile" if count else without_secrets(detail, secrets)
    _log.warning("the agent %s failed (%s): %s", agent, outcome.value, words or "nothing more is known")


def _profile_fields_in(detail: str) -> int:
    """How much of a profile an upstream says in its failure: that is about somebody, and no reason."""
    try:
        answer = json.loads(detail[max(detail.find("{"), 0) :])
    except (ValueError, RecursionError):
        answer = detail
    has_result = isinstance(answer, dict) and "result" in answer
    fields = read_reply(answer if has_result else {"result": answer}).fields or {}
    return sum(name in PROMPT_ATTRIBUTES and name != "state" for name in fields)  # which a task has, too


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """An upstream's words as an operator may read them: without these, and without what looks like one; cut."""
    for secret in secrets:
        text = text.replace(secret, "[redacted]")
    # cut before, too: some of what is looked for takes a time that grows with the square of the length
    return _HIDDEN.sub(_hidden, text[: 2 * LONGEST_DETAIL])[:LONGEST_DETAIL]


def _hidden(match: re.Match[str]) -> str:
    return f"{match['name'] or ''}[redacted]"
