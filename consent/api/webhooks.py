"""What the OpenAPI document says of the webhooks: an entry and a type for each event that apps are told of."""

from typing import Any

from consent.api import samples
from consent.event_types import EventType, Webhook

_HEADERS = {
    "webhook-id": ("The same for every attempt at one delivery: act once.", "string"),
    "webhook-timestamp": ("Seconds since 1970; refuse what is more than five minutes old or ahead.", "string"),
    "webhook-signature": ("One or more signatures, parted by spaces, each `v1,` and base64.", "string"),
    "X-Request-Id": ("Names the call that caused it in our logs.", "string"),
}
_STREAMED = {
    "type": "object",
    "description": "One event of `/consent-events`: its fields as a parser of server-sent events has them.",
    "required": ["event", "id", "data"],
    "properties": {
        "event": {"type": "string", "const": "consent"},
        "id": {"type": "string", "description": "The app's own sequence number; resume with it."},
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": {"$ref": "#/components/schemas/ConsentStatus"},
        },
    },
}
_ANSWERS = {
    "2XX": {"description": "Taken. The body is not looked at."},
    "410": {"description": "The address is gone: it is disabled, and what waits for it is given up."},
    "default": {"description": "Tried again, over three days."},
}


def webhooks(components: dict[str, Any]) -> dict[str, Any]:
    """The `webhooks` of the document; the types of all events are added to `components`."""
    components["ConsentEvent"] = _STREAMED
    told = [event.webhook for event in EventType if event.webhook]
    for webhook in told:
        components[_type_name(webhook)] = _event(webhook)
    return {webhook.type: {"post": _operation(webhook)} for webhook in told}


def _type_name(webhook: Webhook) -> str:
    """`consent.approved` → `ConsentApprovedEvent`"""
    return "".join(word.title() for word in webhook.type.split(".")) + "Event"


def _event(webhook: Webhook) -> dict[str, Any]:
    return {
        "type": "object",
        "description": f"Sent when {webhook.when}.",
        "additionalProperties": False,
        "required": ["type", "timestamp", "data"],
        "properties": {
            "type": {"type": "string", "const": webhook.type},
            "timestamp": {"type": "string", "format": "date-time", "description": "The moment that `data` is of."},
            "data": {"$ref": "#/components/schemas/ConsentStatus"},
        },
    }


def _operation(webhook: Webhook) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{_type_name(webhook)}"}
    example = {"type": webhook.type, "timestamp": "2026-11-20T10:02:10Z", "data": _sample(webhook)}
    return {
        "operationId": f"on{_type_name(webhook)}",
        "tags": ["Webhooks"],
        "summary": f"{webhook.when[0].upper()}{webhook.when[1:]}",
        "description": "Signed as Standard Webhooks say. Deliveries may overtake each other: `sequence` orders them.",
        "parameters": [
            {"name": name, "in": "header", "required": True, "description": meaning, "schema": {"type": kind}}
            for name, (meaning, kind) in _HEADERS.items()
        ],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": schema, "examples": {"event": {"value": example}}}},
        },
        "responses": _ANSWERS,
    }


def _sample(webhook: Webhook) -> dict[str, Any]:
    """The status body of the story in `samples`, as it would be at this event."""
    state = webhook.type.rpartition(".")[2]
    if state in ("denied", "cancelled"):
        return {**samples.STATUS, "status": state, "grant": None}
    standing = {"approved": "active", "resumed": "active", "updated": "active"}.get(state, state)
    return {**samples.STATUS, "grant": {**samples.STATUS["grant"], "status": standing}}
