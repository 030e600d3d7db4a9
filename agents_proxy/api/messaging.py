"""`POST /api/a2a/messaging` (contract 4.1), and a signed-in person's phone numbers and messages."""

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.answers import json_answer
from accounts.errors import checked
from agents_proxy import messaging, phone_numbers
from agents_proxy.api.consents import OwnerView
from agents_proxy.api.proxy import AgentView
from agents_proxy.api.schemas_messaging import CodeBody, NumberBody
from agents_proxy.callers import Caller
from agents_proxy.envelope import Reply, new_session_id
from agents_proxy.messaging import Sender
from agents_proxy.schemas import MessageBody


class MessagingView(AgentView):
    """The messaging agent: the checks of every agent, then those of a message."""

    body = MessageBody

    def reply(self, agent: str, caller: Caller, asked: Any) -> Reply:
        by = Sender(caller.person_pk, caller.consent_pk)
        session_id = asked.sessionId or new_session_id()
        return messaging.send_message(by=by, body=asked, session_id=session_id, task_id=str(self.task_id))


class Numbers(OwnerView):
    """Numbers of one's own; asking for a code is how one is added."""

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
