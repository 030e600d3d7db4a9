"""One profile agent asked at once by the person in front of the page: create, update, look up.

Nothing of it is kept here but that the call took place: what was typed and what was answered are on the page alone.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts.models import User
from agents_proxy.agents import AGENTS
from agents_proxy.analyses.merging import Merged, merge_in_order
from agents_proxy.analyses.results import reading_of
from agents_proxy.errors import ConsentRequired
from agents_proxy.processing_consent import actions as consents
from agents_proxy.proxy import calls
from agents_proxy.proxy import limits as proxy_limits
from agents_proxy.proxy.envelope import Prompt, new_session_id, new_task_id
from agents_proxy.proxy.subjects import subject_of

Names = tuple[str, str]  # of a session and a task
CREATE, UPDATE, LOOK_UP = "core-profile", "core-profile-update", "core"


@dataclass(frozen=True)
class ProfileReply:
    """What the agent answered: a profile, or why there is none (a code of `analyses.words.REASONS`).

    Where it asks something back, that is its `question`, and `names` are the call's, under which it is answered.
    """

    agent: str
    profile: Merged | None
    error_code: str = ""
    question: str | None = None
    names: Names | None = None


def call_profile_agent(*, by: User, agent: str, text: str, network: str, names: Names | None = None) -> ProfileReply:
    """Send `text` to `agent` once, under `by`'s own live consent to its purpose. With `names` it answers a question.

    Raises `ConsentRequired`, `SubjectNotVerified`, `SubjectMismatch`, `TooManyCalls`, `NotConfigured`, and `CallFailed`
    or one of its kinds. Nothing is repeated: an agent that was asked may have done it.
    """
    consent_pk = consents.own(by, AGENTS[agent].purpose)
    if consent_pk is None:
        raise ConsentRequired
    proxy_limits.count_call(key=f"person {by.pk}", network=network)
    session_id, task_id = names or (new_session_id(), new_task_id())
    prompt = Prompt(text, session_id, task_id)
    about = subject_of(consent_pk, AGENTS[agent].purpose).for_prompt(text)
    answer = calls.call_agent(agent, prompt, consent_pk=consent_pk, about=about)
    if consents.was_withdrawn(consent_pk):
        raise ConsentRequired
    if answer.conversation is not None:
        return ProfileReply(agent, None, question=answer.question, names=(session_id, task_id))
    reading = reading_of(json.loads(answer.body))
    if reading.fields is None:
        return ProfileReply(agent, None, reading.error_code)
    return ProfileReply(agent, merge_in_order([(agent, reading.fields)]))


def lookup_text(about: str) -> str:
    """What the look-up agent is asked: the identifier, by its kind."""
    return f"{'Email' if '@' in about else 'Phone'}: {about}"


def update_text(about: str, *, instruction: str, fields: Mapping[str, Any]) -> str:
    """What the update agent is asked: whose profile, the instruction in its own words, and the fields as one object."""
    given = json.dumps(fields, ensure_ascii=False) if fields else ""
    return "\n\n".join(part for part in (lookup_text(about), instruction.strip(), given) if part)
