"""What a messaging agent's answer says about the message (pure).

Its text may be JSON with `status` and `messageId`; otherwise the state of its A2A task counts.
"""

import re
from dataclasses import dataclass
from typing import Any

import orjson

from agents_proxy.proxy.envelope import AGENT_FAILED, Reply, unwrapped
from agents_proxy.proxy.replies import read_reply
from agents_proxy.proxy.spelling import canonical
from agents_proxy.states import MessageStatus

_WORDS = {
    # of A2A's tasks
    "submitted": MessageStatus.SENT, "working": MessageStatus.SENT, "completed": MessageStatus.SENT,
    "failed": MessageStatus.FAILED, "rejected": MessageStatus.FAILED, "canceled": MessageStatus.FAILED,
    "cancelled": MessageStatus.FAILED,
    # of the gateways
    "accepted": MessageStatus.SENT, "queued": MessageStatus.SENT, "scheduled": MessageStatus.SENT,
    "buffered": MessageStatus.SENT, "pending": MessageStatus.SENT, "dispatched": MessageStatus.SENT,
    "sending": MessageStatus.SENT, "sent": MessageStatus.SENT,
    "delivered": MessageStatus.DELIVERED, "read": MessageStatus.DELIVERED,
    "undelivered": MessageStatus.FAILED, "undeliverable": MessageStatus.FAILED, "expired": MessageStatus.FAILED,
    "delivery_failed": MessageStatus.FAILED, "aborted": MessageStatus.FAILED,
}  # fmt: skip
_NAMES = ("messageId", "message_id", "id", "sid")
_STATES = {
    MessageStatus.SENDING: "working", MessageStatus.SENT: "completed", MessageStatus.DELIVERED: "completed",
    MessageStatus.FAILED: "failed", MessageStatus.UNKNOWN: "unknown",
}  # fmt: skip


@dataclass(frozen=True)
class Delivery:
    """Where a message stands, the upstream's name for it, and for a failed one a code of ours."""

    status: MessageStatus
    upstream_id: str = ""
    error_code: str = ""


def delivery_of(reply: Reply) -> Delivery:
    """What an agent's answer comes to; a result that says nothing of it was at least accepted."""
    if reply.error_code is not None:
        code = "delivery_failed" if reply.error_code == AGENT_FAILED else "agent_error"
        return Delivery(MessageStatus.FAILED, error_code=code)
    result = unwrapped(reply.result)
    fields = {canonical(name): value for name, value in read_reply({"result": result}).chosen.items()}
    status = status_named(fields.get("status")) or status_named(_state(result)) or MessageStatus.SENT
    named = next((fields[name] for name in _NAMES if fields.get(name)), None)
    if named is None:
        named = reply.upstream_id or (result.get("id") if isinstance(result, dict) else None)
    return Delivery(status, _printable(named), "delivery_failed" if status is MessageStatus.FAILED else "")


def status_named(word: Any) -> MessageStatus | None:
    """The status that an upstream's word for it means; A2A 1.0 writes `TASK_STATE_COMPLETED`."""
    return _WORDS.get(word.lower().removeprefix("task_state_")) if isinstance(word, str) else None


def repeated_reply(task_id: str, message_id: str, status: MessageStatus) -> Reply:
    """The reply to a task that was sent before, in the shape of 2.3, with the present status of the message."""
    text = orjson.dumps({"messageId": message_id, "status": status.value, "repeated": True}).decode()
    message = {"role": "agent", "parts": [{"type": "text", "text": text}]}
    result = {"id": task_id, "status": {"state": _STATES[status], "message": message}}
    body = orjson.dumps({"jsonrpc": "2.0", "id": task_id, "result": result})
    return Reply(body, result, None, len(body))


def _state(result: Any) -> Any:
    status = result.get("status") if isinstance(result, dict) else None
    return status.get("state") if isinstance(status, dict) else None


def _printable(named: Any) -> str:
    text = str(named) if isinstance(named, (str, int)) and not isinstance(named, bool) else ""
    return text if re.fullmatch(r"[!-~]{1,128}", text) else ""
