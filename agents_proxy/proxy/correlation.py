"""`sessionId` and `id` correlate and never authorise: what somebody else used first reaches no agent under that name.

An agent may remember a conversation by them, and two people who happen, or mean, to use the same must not meet in it.
"""

from dataclasses import replace

from django.conf import settings
from django.core.cache import cache

from agents_proxy.digests import digests
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy.envelope import Conversation, Prompt
from common.jose import base64url

ANSWERS_WITHIN = 86_400  # seconds


def principals_of(consent: ProcessingConsent) -> list[str]:
    """Who calls, a person by themselves or through one app, under each of the server's keys, the newest first."""
    return digests("principal", str(consent.user_id), str(consent.app_id or ""))


def kept_apart(prompt: Prompt, principals: list[str]) -> Prompt:
    """`prompt` under the identifiers that the agent is to know it by: its own, unless they are another's."""
    session_id, task_id = prompt.session_id, prompt.task_id
    if not _is_first("session", session_id, principals):
        session_id = f"session-{int(_replaced('session', session_id, principals), 16) % 10**20:020d}"
    if not _is_first("task", task_id, principals):
        task_id = replaced_task(task_id, principals)
    return replace(prompt, session_id=session_id, task_id=task_id)


def replaced_task(task_id: str, principals: list[str]) -> str:
    """The same with every call, so that a conversation goes on."""
    named = bytes.fromhex(_replaced("task", task_id, principals))
    return f"task-{base64url(named)}"


def open_conversation(agent: str, prompt: Prompt) -> Conversation | None:
    """The task in which `agent` asked something back under these identifiers, which are one principal's alone."""
    kept = cache.get(_conversation_key(agent, prompt))
    return Conversation(*kept) if kept else None


def keep_conversation(agent: str, prompt: Prompt, conversation: Conversation | None) -> None:
    """What `open_conversation` finds from now on, for as long as an answer is waited for."""
    key = _conversation_key(agent, prompt)
    if conversation is None:
        cache.delete(key)
    else:
        cache.set(key, (conversation.task_id, conversation.context_id, conversation.turn), ANSWERS_WITHIN)


def _conversation_key(agent: str, prompt: Prompt) -> str:
    return f"a2a:question:{agent}:{prompt.session_id}:{prompt.task_id}"


def _replaced(kind: str, name: str, principals: list[str]) -> str:
    return digests(kind, name, principals[-1])[-1]  # of the oldest key: another one before it changes no name


def _is_first(kind: str, name: str, principals: list[str]) -> bool:
    """Whether this principal has the name, since before or from now on; held for as long as calls are noted."""
    key = f"a2a:{kind}:{name}"
    seconds = settings.AGENT_CALLS_KEPT_DAYS * 86400
    return bool(cache.add(key, principals[0], seconds)) or cache.get(key) in principals
