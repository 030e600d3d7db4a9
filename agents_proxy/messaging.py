"""Outbound messages: to a number that the consenting person verified, once for each task, and what became of them."""

import json
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction

from accounts.database import database_now, lock_for_transaction, rfc3339
from accounts.errors import InvalidRequest
from agents_proxy import calls, phone_numbers
from agents_proxy.agents import upstream_of
from agents_proxy.delivery import Delivery, delivery_of, status_named, told_again
from agents_proxy.digests import digest, digests, is_digest
from agents_proxy.envelope import Prompt, Reply
from agents_proxy.errors import CallFailed, InvalidParams, NotConfigured, Refusal, UnknownMessage
from agents_proxy.models import MessageTemplate, OutboundMessage, ProcessingConsent
from agents_proxy.schemas import MessageBody, TemplateCall
from agents_proxy.states import MESSAGE_MOVES, MessageStatus

AGENT = "messaging"
PARAMETER = re.compile(r"\{([a-z][a-z0-9_]{0,31})\}")
_LONGEST_CALL = timedelta(minutes=11)  # more than AGENT_MESSAGING_TIMEOUT may be set to


@dataclass(frozen=True)
class Sender:
    """Under whose consent a message goes out; both are None only where this deployment asks for no consent."""

    person_pk: int | None
    consent_pk: int | None


def send_message(*, by: Sender, body: MessageBody, session_id: str, task_id: str) -> Reply:
    """The messaging agent's answer; for a task that was sent already, what became of it.

    Raises `NotConfigured`, `InvalidParams`, `ConsentRequired` for a number that is not the person's own, and what a
    call raises. A call that broke off is not repeated: its message stays `unknown` until a delivery report comes.
    """
    if upstream_of(AGENT) is None:
        raise NotConfigured
    phone_numbers.check_number(body.to)
    if by.person_pk is not None and by.consent_pk is not None:
        phone_numbers.require_verified(by.person_pk, body.to)
    template = _approved(body.template) if body.template else None
    message, is_new = _claimed(by, body, template, task_id)
    if not is_new:
        if message.status == MessageStatus.SENDING and message.created_at < database_now() - _LONGEST_CALL:
            record_delivery(message.pk, Delivery(MessageStatus.UNKNOWN))  # the process that sent it is gone
            message.status = MessageStatus.UNKNOWN
        return told_again(task_id, message.message_id, MessageStatus(message.status))
    return _sent(message, Prompt(written(body), session_id, task_id), by.consent_pk)


def written(body: MessageBody) -> str:
    """The JSON that the envelope's one text part holds: `to`, and `text` or `template`."""
    members = body.model_dump(exclude={"sessionId", "id"}, exclude_none=True)
    return json.dumps(members, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _approved(asked: TemplateCall) -> MessageTemplate:
    found = MessageTemplate.objects.filter(name=asked.name, language=asked.language, active=True).first()
    if found is None:
        raise _unfit("template", "unknown_template", "No approved template has this name in this language.")
    if set(asked.parameters) != set(PARAMETER.findall(found.text)):
        raise _unfit("template.parameters", "wrong_parameters", "The template takes other parameters.")
    return found


def _claimed(
    by: Sender, body: MessageBody, template: MessageTemplate | None, task_id: str
) -> tuple[OutboundMessage, bool]:
    """The row of this task, and whether this call made it and so may send; raises `InvalidParams` for another body."""
    consent = ProcessingConsent.objects.filter(pk=by.consent_pk).first() if by.consent_pk else None
    with transaction.atomic():
        lock_for_transaction(f"message {by.person_pk} {task_id}")
        same = OutboundMessage.objects.filter(task_id=task_id)
        if consent is None:
            same = same.filter(consent=None)
        else:  # a renewed consent does not make it another message; another site's task is another one
            same = same.filter(consent__user=consent.user_id, consent__app=consent.app_id)
        kept = same.order_by("pk").first()
        if kept is None:
            made = OutboundMessage.objects.create(
                consent=consent, task_id=task_id, recipient_digest=digest("number", body.to),
                body_digest=digest("message", written(body)), template=template,
            )  # fmt: skip
            return made, True
    if not is_digest(kept.body_digest, "message", written(body)):
        raise _unfit("id", "task_reused", "This task was another message.")
    return kept, False


def _sent(message: OutboundMessage, prompt: Prompt, consent_pk: int | None) -> Reply:
    try:
        reply = calls.ask(AGENT, prompt, consent_pk=consent_pk)
    except CallFailed:
        record_delivery(message.pk, Delivery(MessageStatus.UNKNOWN))
        raise
    except Refusal:
        message.delete()  # nothing was sent, so the same task may be tried again
        raise
    record_delivery(message.pk, delivery_of(reply))
    return reply


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


def take_report(*, word: str, upstream_id: str | None, task_id: str | None, number: str | None) -> MessageStatus:
    """What an agent says later of a message: by its own ID, else by the task and where it went.

    Returns where the message stands afterwards: a report that comes twice or too late changes nothing. Raises
    `InvalidRequest` for a word that means nothing, `UnknownMessage`.
    """
    told = status_named(word)
    if told is None:
        raise InvalidRequest("This status is none that is known.")
    sent = OutboundMessage.objects.order_by("-pk")
    message = sent.filter(upstream_id=upstream_id).first() if upstream_id else None
    if message is None and task_id and number:  # the answer that told the agent's own ID may have been lost
        message = sent.filter(task_id=task_id, recipient_digest__in=digests("number", number)).first()
    if message is None:
        raise UnknownMessage
    failed = told is MessageStatus.FAILED
    record_delivery(message.pk, Delivery(told, upstream_id or "", "delivery_failed" if failed else ""))
    message.refresh_from_db()
    return MessageStatus(message.status)


def messages_of(person_pk: int, *, limit: int = 100) -> list[dict[str, Any]]:
    """What was sent under a person's consents, newest first; neither the number nor the words were kept."""
    found = OutboundMessage.objects.filter(consent__user=person_pk).select_related("template")[:limit]
    return [
        {
            "messageId": message.message_id,
            "id": message.task_id,
            "template": message.template.name if message.template else None,
            "status": message.status,
            "errorCode": message.error_code or None,
            "createdAt": rfc3339(message.created_at),
            "updatedAt": rfc3339(message.updated_at),
        }
        for message in found
    ]


def _unfit(field: str, code: str, message: str) -> InvalidParams:
    return InvalidParams(errors=[{"field": field, "code": code, "message": message}])
