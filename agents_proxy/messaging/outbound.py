"""How a message is put to the messaging agent, and what became of it."""

import json
import re
from datetime import timedelta
from typing import Any

from agents_proxy.errors import InvalidParams
from agents_proxy.messaging.delivery import Delivery
from agents_proxy.messaging.models import MessageTemplate, OutboundMessage
from agents_proxy.messaging.schemas import MessageBody, TemplateCall
from agents_proxy.states import MESSAGE_MOVES, MessageStatus
from common.clock import database_now

AGENT = "messaging"
PARAMETER = re.compile(r"\{([a-z][a-z0-9_]{0,31})\}")
LONGEST_CALL = timedelta(minutes=11)  # more than AGENT_MESSAGING_TIMEOUT may be set to


def written(body: MessageBody) -> str:
    """The JSON that the envelope's one text part holds: `to`, and `text` or `template`."""
    members = body.model_dump(exclude={"sessionId", "id"}, exclude_none=True)
    return json.dumps(members, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def approved_text(template: TemplateCall) -> MessageTemplate:
    found = MessageTemplate.objects.filter(name=template.name, language=template.language, active=True).first()
    if found is None:
        raise invalid_field("template", "unknown_template", "No approved template has this name in this language.")
    if set(template.parameters) != set(PARAMETER.findall(found.text)):
        raise invalid_field("template.parameters", "wrong_parameters", "The template takes other parameters.")
    return found


def record_delivery(message_pk: int, delivery: Delivery) -> bool:
    """Move a message to where `delivery` says; False where it was there or further already."""
    if delivery.status is MessageStatus.DELIVERED:  # what was delivered was sent before
        OutboundMessage.objects.filter(pk=message_pk, status=MessageStatus.SENDING).update(status=MessageStatus.SENT)
    sources = [old for old, news in MESSAGE_MOVES.items() if delivery.status in news]
    columns: dict[str, Any] = {"status": delivery.status, "error_code": delivery.error_code}
    if delivery.upstream_id:
        columns["upstream_id"] = delivery.upstream_id
    row = OutboundMessage.objects.filter(pk=message_pk, status__in=sources)
    return bool(row.update(**columns, updated_at=database_now()))


def invalid_field(field: str, code: str, message: str) -> InvalidParams:
    return InvalidParams(errors=[{"field": field, "code": code, "message": message}])
