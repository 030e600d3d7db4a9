"""Reads a description in prose by a language model, where the environment names one (`LLM_BASE_URL`).

Any chat completions endpoint that takes a JSON schema will do, one on this machine above all. LLM_MODEL and LLM_API_KEY
are as it wants them. Only what the description itself says counts: a value that is no quotation of it is dropped.
"""

import json
import os
from typing import Any

import urllib3

from examples.reference_agents.prompts import KINDS, typed

_TIMEOUT = 60  # seconds
_TASK = "List what the description says of the person: a field, and the words of the description that are its value."
_ENTRY = {"field": {"type": "string", "enum": list(KINDS)}, "quote": {"type": "string"}}
_SCHEMA = {
    "type": "object", "additionalProperties": False, "required": ["entries"],
    "properties": {"entries": {"type": "array", "items": {
        "type": "object", "additionalProperties": False, "required": list(_ENTRY), "properties": _ENTRY,
    }}},
}  # fmt: skip
_FORMAT = {"type": "json_schema", "json_schema": {"name": "entries", "strict": True, "schema": _SCHEMA}}


def fields_in(description: str) -> dict[str, Any]:
    """Field → value, as the description says it; empty where no model is configured.

    Raises `ValueError` and urllib3's `HTTPError` where there is no answer to use.
    """
    base = os.environ.get("LLM_BASE_URL", "").rstrip("/")
    if not base:
        return {}
    messages = [{"role": "system", "content": _TASK}, {"role": "user", "content": description}]
    body = {"model": os.environ.get("LLM_MODEL", "default"), "messages": messages, "response_format": _FORMAT}
    http = urllib3.PoolManager(headers={"Authorization": f"Bearer {os.environ.get('LLM_API_KEY', '')}"})
    answer = http.request("POST", f"{base}/chat/completions", json=body, timeout=_TIMEOUT, retries=False)
    try:
        entries = json.loads(answer.json()["choices"][0]["message"]["content"])["entries"]
        found = [(str(entry["field"]), str(entry["quote"])) for entry in entries]
    except (LookupError, TypeError):
        raise ValueError("the model gave no answer") from None
    read = {name: typed(name, quote) for name, quote in found if name in KINDS and quote in description}
    return {name: value for name, value in read.items() if value not in (None, "", [])}
