"""The reference agents as the tests ask them: the program behind HTTP, or its JSON-RPC in this process."""

import json
from typing import Any

from examples.reference_agents.json_rpc import answer_request


def reply_of(agent: str, prompt: str) -> str:
    """The text of the reply."""
    params = {"sessionId": "session-1", "message": {"role": "user", "parts": [{"type": "text", "text": prompt}]}}
    answer = answer_request(agent, {"jsonrpc": "2.0", "id": "task-1", "method": "tasks/send", "params": params})
    (part,) = answer["result"]["status"]["message"]["parts"]
    return str(part["text"])


def profile_of(agent: str, prompt: str) -> dict[str, Any]:
    """What the agent says, without how sure it is."""
    profile = unwrapped(reply_of(agent, prompt))
    return {name: value for name, value in profile.items() if name not in ("confidence_score", "confidence")}


def unwrapped(text: str) -> dict[str, Any]:
    """The object in the text: bare, fenced or wrapped, by agent."""
    found = json.loads(text.removeprefix("```json\n").removesuffix("\n```"))
    profile: dict[str, Any] = found.get("userProfile", found)
    return profile
