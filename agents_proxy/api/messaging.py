"""`POST /api/a2a/messaging` (contract 4.1), reports of delivery, and a person's phone numbers and messages."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from accounts.answers import json_answer
from accounts.errors import checked
from agents_proxy import messaging, phone_numbers
from agents_proxy.api.consents import OwnerView
from agents_proxy.api.limited import LimitedPost
from agents_proxy.api.proxy import AgentView
from agents_proxy.api.schemas_messaging import CodeBody, NumberBody, ReportBody
from agents_proxy.callers import Caller
from agents_proxy.envelope import Reply, new_session_id
from agents_proxy.errors import ReportNotSigned
from agents_proxy.messaging import Sender
from agents_proxy.schemas import MessageBody
from common.limits import Count


class MessagingView(AgentView):
    """The messaging agent: the checks of every agent, then those of a message."""

    body = MessageBody

    def reply(self, agent: str, caller: Caller, asked: Any) -> Reply:
        by = Sender(caller.person_pk, caller.consent_pk)
        session_id = asked.sessionId or new_session_id()
        return messaging.send_message(by=by, body=asked, session_id=session_id, task_id=str(self.task_id))


class Reports(APIView):
    """What the messaging agent says later, signed as Standard Webhooks say; not for browsers."""

    authentication_classes: tuple[()] = ()
    permission_classes: tuple[()] = ()
    body_limit = settings.BODY_LIMIT

    def post(self, request: Request) -> HttpResponse:
        _require_signature(request._request.body, request.headers)
        report = checked(ReportBody, request.data)
        stands = messaging.take_report(
            word=report.status, upstream_id=report.messageId, task_id=report.id, number=report.to
        )
        return json_answer({"status": stands.value})


def _require_signature(body: bytes, headers: Mapping[str, str]) -> None:
    """Raises `ReportNotSigned`."""
    if not settings.MESSAGING_REPORT_SECRET:
        raise ReportNotSigned("No reports are taken here.")
    try:
        Webhook(settings.MESSAGING_REPORT_SECRET).verify(body, dict(headers), json_parse=False)
    except (WebhookVerificationError, ValueError):  # the latter for a signature that is no base64
        raise ReportNotSigned from None


class Numbers(LimitedPost, OwnerView):
    """Numbers of one's own; asking for a code is how one is added."""

    def standing(self, request: Request) -> Count:
        return phone_numbers.codes_left(self.person)

    def get(self, request: Request) -> HttpResponse:
        return json_answer({"numbers": phone_numbers.numbers_of(self.person)})

    def post(self, request: Request) -> HttpResponse:
        body = checked(NumberBody, request.data)
        phone_numbers.send_code(by=self.person, number=body.to)
        return json_answer(
            {"status": "code_sent", "expiresIn": int(phone_numbers.CODE_HOLDS.total_seconds())}, status=202
        )


class Codes(OwnerView):
    """The code that came to a number."""

    def post(self, request: Request) -> HttpResponse:
        body = checked(CodeBody, request.data)
        phone_numbers.verify_code(by=self.person, number=body.to, code=body.code)
        return json_answer({"status": "verified"})


class OneNumber(OwnerView):
    def delete(self, request: Request, number_pk: int) -> HttpResponse:
        phone_numbers.forget_number(by=self.person, number_pk=number_pk)
        return HttpResponse(status=204)


class Messages(OwnerView):
    def get(self, request: Request) -> HttpResponse:
        return json_answer({"messages": messaging.messages_of(self.person.pk)})
