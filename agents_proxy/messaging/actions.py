"""Outbound messages: to a number that the consenting person verified, once for each task."""

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from agents_proxy import errors
from agents_proxy.agents import upstream_of
from agents_proxy.budgets import Budget, spend
from agents_proxy.digests import digest, digests, is_digest
from agents_proxy.messaging import opt_outs, phone_numbers
from agents_proxy.messaging.delivery import Delivery, delivery_of, repeated_reply, status_named
from agents_proxy.messaging.models import MessageTemplate, OutboundMessage
from agents_proxy.messaging.outbound import AGENT, LONGEST_CALL, approved_text, invalid_field, record_delivery, written
from agents_proxy.messaging.schemas import MessageBody
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy import calls
from agents_proxy.proxy.correlation import principals_of, replaced_task
from agents_proxy.proxy.envelope import Prompt, Reply, task_failed
from agents_proxy.proxy.subjects import Subject
from agents_proxy.states import CallOutcome, MessageStatus
from common.clock import database_now, rfc3339
from common.problems import InvalidRequest
from common.sql.statements import lock_for_transaction


@dataclass(frozen=True)
class Sender:
    """Under whose consent a message goes out; both are None only where this deployment asks for no consent."""

    person_pk: int | None
    consent_pk: int | None


def send_message(*, by: Sender, body: MessageBody, session_id: str, task_id: str) -> Reply:
    """The messaging agent's answer; for a task that was sent already, what became of it.

    Raises `NotConfigured`, `InvalidParams`, `ConsentRequired` for a number that the consent does not name,
    `TooManyMessages`, and what a call raises. A call that broke off is not repeated: its message stays `unknown` until
    a delivery report comes.
    """
    if upstream_of(AGENT) is None:
        raise errors.NotConfigured
    phone_numbers.check_number(body.to)
    if by.person_pk is not None and by.consent_pk is not None:
        phone_numbers.require_named(ProcessingConsent.objects.get(pk=by.consent_pk), body.to)
    opt_outs.require_wanted(body.to)
    template = approved_text(body.template) if body.template else None
    message, is_new = _claimed(by, body, template, task_id)
    if not is_new:
        if message.status == MessageStatus.SENDING and message.created_at < database_now() - LONGEST_CALL:
            record_delivery(message.pk, Delivery(MessageStatus.UNKNOWN))  # the process that sent it is gone
            message.status = MessageStatus.UNKNOWN
        return repeated_reply(task_id, message.message_id, MessageStatus(message.status))
    return _sent(message, Prompt(written(body), session_id, task_id), by, body.to)


def _claimed(
    by: Sender, body: MessageBody, template: MessageTemplate | None, task_id: str
) -> tuple[OutboundMessage, bool]:
    """The row of this task, and whether this call made it and so may send.

    Raises `InvalidParams` for another body, and `TooManyMessages`: only a new message is counted.
    """
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
            _spend(consent)
            made = OutboundMessage.objects.create(
                consent=consent, task_id=task_id, recipient_digest=digest("number", body.to),
                body_digest=digest("message", written(body)), template=template,
            )  # fmt: skip
            return made, True
    if not is_digest(kept.body_digest, "message", written(body)):
        raise invalid_field("id", "task_reused", "This task was another message.")
    return kept, False


def _spend(consent: ProcessingConsent | None) -> None:
    if consent is None:
        return  # only where this deployment asks for no consent
    exceeded = spend(Budget.MESSAGES, person_pk=consent.user_id, app_pk=consent.app_id)
    if exceeded is not None:
        raise errors.TooManyMessages(headers=exceeded.retry_after)


def _sent(message: OutboundMessage, prompt: Prompt, by: Sender, to: str) -> Reply:
    about = None if by.person_pk is None else Subject((), (to,), person_pk=by.person_pk, disclosed=(to,))
    try:
        reply = calls.call_agent(AGENT, prompt, consent_pk=by.consent_pk, about=about)
    except (errors.AgentBusy, errors.AgentRefusedUs):  # it took nothing, so the same task may be tried again
        message.delete()
        raise
    except (errors.CallFailed, errors.SubjectMismatch):  # the agent was asked, and may have sent it
        record_delivery(message.pk, Delivery(MessageStatus.UNKNOWN))
        raise
    except errors.Refusal:
        message.delete()  # nothing was sent, so the same task may be tried again
        raise
    delivery = delivery_of(reply)
    record_delivery(message.pk, delivery)
    if delivery.status is MessageStatus.FAILED and reply.error_code is None:  # said in words, of a task that ended well
        calls.log_failure(AGENT, prompt, CallOutcome.AGENT_FAILED, reply.body.decode())
        return task_failed(prompt.task_id, reply.size)
    return reply


def take_report(*, word: str, upstream_id: str | None, task_id: str | None, number: str | None) -> MessageStatus:
    """What an agent says later of a message: by its own ID, else by the task and where it went.

    Returns where the message stands afterwards: a report that comes twice or too late changes nothing. Raises
    `InvalidRequest` for a word that means nothing, `UnknownMessage`.
    """
    status = status_named(word)
    if status is None:
        raise InvalidRequest("This status is none that is known.")
    sent = OutboundMessage.objects.order_by("-pk")
    message = sent.filter(upstream_id=upstream_id).first() if upstream_id else None
    if message is None and task_id and number:  # the answer that told the agent's own ID may have been lost
        there = sent.filter(recipient_digest__in=digests("number", number)).select_related("consent")
        message = next((one for one in there.iterator() if task_id in _names_of(one)), None)
    if message is None:
        raise errors.UnknownMessage()
    failed = status is MessageStatus.FAILED
    record_delivery(message.pk, Delivery(status, upstream_id or "", "delivery_failed" if failed else ""))
    message.refresh_from_db()
    return MessageStatus(message.status)


def _names_of(message: OutboundMessage) -> tuple[str, ...]:
    """By which IDs the agent may know the task."""
    if message.consent is None:
        return (message.task_id,)
    return (message.task_id, replaced_task(message.task_id, principals_of(message.consent)))


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
