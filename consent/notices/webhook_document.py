"""What the OpenAPI document says of the webhooks: an entry and a type for each event that apps are told of."""

from typing import Any

from pydantic import TypeAdapter

from common.operations import example_of
from consent.event_types import CONNECTED, OF_CONNECTIONS, WEBHOOKS, Webhook
from consent.shapes import ConnectionNotice, ConsentStatus
from developers.app_events import ProcessingEvent, ProcessingNotice

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
        "event": {
            "type": "string",
            "enum": ["consent", *(each.type for each in OF_CONNECTIONS), *(event.value for event in ProcessingEvent)],
            "description": "`consent`, or the type of what is told of a connection or of processing by agents.",
        },
        "id": {"type": "string", "description": "The app's own sequence number; resume with it."},
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": {
                "anyOf": [
                    {"$ref": "#/components/schemas/ConsentStatus"},
                    {"$ref": "#/components/schemas/ConnectionNotice"},
                    {"$ref": "#/components/schemas/ProcessingNotice"},
                ]
            },
        },
    },
}
# what an event of processing names beside the consent, by the first part of its type
_NAMED = {
    "processing_consent": (),
    "analysis": ("analysis_id",),
    "activation": ("analysis_id", "activation_id"),
    "deletion": ("deletion_id",),
}
_ANSWERS = {
    "2XX": {"description": "Taken. The body is not looked at."},
    "410": {"description": "The address is gone: it is disabled, and what waits for it is given up."},
    "default": {"description": "Tried again, over three days."},
}


def webhooks(components: dict[str, Any]) -> dict[str, Any]:
    """The `webhooks` of the document; the types of all events are added to `components`."""
    components["ConsentEvent"] = _STREAMED
    components["ProcessingNotice"] = TypeAdapter(ProcessingNotice).json_schema()
    components["ConnectionNotice"] = TypeAdapter(ConnectionNotice).json_schema()
    for webhook in WEBHOOKS:
        components[_type_name(webhook)] = _event(webhook)
    return {webhook.type: {"post": _operation(webhook)} for webhook in WEBHOOKS}


def _type_name(webhook: Webhook) -> str:
    """`consent.approved` → `ConsentApprovedEvent`"""
    return "".join(word.title() for word in webhook.type.replace("_", ".").split(".")) + "Event"


def _is_of_processing(webhook: Webhook) -> bool:
    return webhook.type in set(ProcessingEvent)


def _body_of(webhook: Webhook) -> str:
    if webhook in OF_CONNECTIONS:
        return "ConnectionNotice"
    return "ProcessingNotice" if _is_of_processing(webhook) else "ConsentStatus"


def _event(webhook: Webhook) -> dict[str, Any]:
    return {
        "type": "object",
        "description": f"Sent when {webhook.when}.",
        "additionalProperties": False,
        "required": ["type", "timestamp", "data"],
        "properties": {
            "type": {"type": "string", "const": webhook.type},
            "timestamp": {"type": "string", "format": "date-time", "description": "The moment that `data` is of."},
            "data": {"$ref": f"#/components/schemas/{_body_of(webhook)}"},
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
        "security": [],  # the signature is in the headers above
        "responses": _ANSWERS,
    }


def _sample(webhook: Webhook) -> dict[str, Any]:
    """The status body as it would be at this event, or what it tells of processing."""
    subject, _, state = webhook.type.rpartition(".")
    if _is_of_processing(webhook):
        example, kept = example_of(ProcessingNotice), ("consent_id", "sequence", *_NAMED[subject])
        named = {name: value if name in kept else None for name, value in example.items()}
        return {**named, "status": "live" if state == "given" else state}
    if webhook in OF_CONNECTIONS:
        example = {**example_of(ConnectionNotice), "status": state, "refusal": None}
        return example if webhook is CONNECTED else {**example, "user_id": None, "request_id": None}
    status = example_of(ConsentStatus)
    if state in ("denied", "cancelled"):
        return {**status, "status": state, "grant": None}
    grant_status = {"approved": "active", "resumed": "active", "updated": "active"}.get(state, state)
    return {**status, "grant": {**status["grant"], "status": grant_status}}
