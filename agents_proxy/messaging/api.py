"""`POST /api/a2a/messaging` (contract 4.1), reports of delivery, and a person's phone numbers and messages."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from django.conf import settings
from django.http import HttpResponse
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from agents_proxy.errors import ReportNotSigned, UnknownAgent, every_refusal
from agents_proxy.messaging import actions as messaging_actions
from agents_proxy.messaging import opt_outs, phone_numbers, schemas
from agents_proxy.messaging.actions import Sender
from agents_proxy.owner_api import CALLS, MESSAGES, LimitedPost, QuerylessOwnerView
from agents_proxy.proxy.api import AgentView
from agents_proxy.proxy.callers import Caller
from agents_proxy.proxy.envelope import Reply, new_session_id
from agents_proxy.proxy.schemas import AgentAnswer
from common.admission.requests import JSONRequest
from common.admission.schemas import Nothing
from common.admission.views import JSONView
from common.json_bodies import json_answer
from common.limits import Count
from common.operations import Refusal, operation, path_parameter


class MessagingView(AgentView):
    """The messaging agent: the checks of every agent, then those of a message."""

    prompt = schemas.MessageBody

    @classmethod
    def common_refusals(cls, method: str, path: str, *, takes_body: bool) -> list[Refusal]:
        return [refusal for refusal in every_refusal() if refusal is not UnknownAgent]  # the address is the agent

    @operation(
        name="sendMessage",
        tag=CALLS,
        summary="Send a message to a verified number",
        description="Either `text` or an approved `template`, to a number that the consenting person verified.",
        body=schemas.MessageBody,
        answers={200: AgentAnswer},
    )
    def post(self, request: Request, agent: str) -> HttpResponse:
        return super().post(request, agent)

    def reply(self, agent: str, caller: Caller, body: Any) -> Reply:
        by = Sender(caller.person_pk, caller.consent_pk)
        session_id = body.sessionId or new_session_id()
        return messaging_actions.send_message(by=by, body=body, session_id=session_id, task_id=str(self.task_id))


class SignedReport(BaseAuthentication):
    """The messaging agent's signature, as Standard Webhooks say. There is no user."""

    def authenticate(self, request: Request) -> None:
        if request.method != "OPTIONS":
            report = cast("JSONRequest", request)
            report.check_size(Reports.body_limit)  # what is not read to its end cannot be verified
            _require_signature(report.content, report.headers)


class Reports(JSONView):
    """What the messaging agent says later, signed as Standard Webhooks say; not for browsers."""

    authentication_classes = (SignedReport,)
    http_method_names = ["post", "options"]

    def post(self, request: Request) -> HttpResponse:
        report = self.body(schemas.ReportBody)
        status = messaging_actions.take_report(
            word=report.status, upstream_id=report.messageId, task_id=report.id, number=report.to
        )
        return json_answer({"status": status.value})


class Inbound(JSONView):
    """What people write back, by the messaging agent, signed as its reports are; it sends them the `reply`."""

    authentication_classes = (SignedReport,)
    http_method_names = ["post", "options"]

    def post(self, request: Request) -> HttpResponse:
        inbound = self.body(schemas.InboundBody)
        message_id = request.headers["webhook-id"]
        opted_out, reply = opt_outs.take_inbound(number=inbound.number, text=inbound.text, message_id=message_id)
        return json_answer({"optedOut": opted_out, "reply": reply})


def _require_signature(body: bytes, headers: Mapping[str, str]) -> None:
    """Raises `ReportNotSigned`."""
    if not settings.MESSAGING_REPORT_SECRET:
        raise ReportNotSigned("No reports are taken here.")
    try:
        Webhook(settings.MESSAGING_REPORT_SECRET).verify(body, dict(headers), json_parse=False)
    except (WebhookVerificationError, ValueError):  # the latter for a signature that is no base64
        raise ReportNotSigned() from None


class Numbers(LimitedPost, QuerylessOwnerView):
    """Numbers of one's own; asking for a code is how one is added."""

    def counts(self) -> Sequence[Count]:
        return [phone_numbers.codes_left(self.person)]

    @operation(
        name="listPhoneNumbers",
        tag=MESSAGES,
        summary="One's verified numbers",
        description="In the order in which they came.",
        answers={200: schemas.PhoneNumbers},
    )
    def get(self, request: Request) -> HttpResponse:
        return json_answer({"numbers": phone_numbers.numbers_of(self.person)})

    @operation(
        name="addPhoneNumber",
        tag=MESSAGES,
        summary="Have a code sent to a number",
        description="The number is there once the code came back.",
        body=schemas.NumberBody,
        answers={202: schemas.CodeSent},
        refusals=[
            phone_numbers.InvalidNumber,
            phone_numbers.TooManyCodes,
            phone_numbers.OptedOut,
            phone_numbers.MessagingUnavailable,
        ],
    )
    def post(self, request: Request) -> HttpResponse:
        body = self.body(schemas.NumberBody)
        phone_numbers.send_code(by=self.person, number=body.to)
        return json_answer(
            {"status": "code_sent", "expiresIn": int(phone_numbers.CODE_LIFETIME.total_seconds())}, status=202
        )


class Codes(QuerylessOwnerView):
    """The code that came to a number."""

    @operation(
        name="verifyPhoneNumber",
        tag=MESSAGES,
        summary="Prove a number by its code",
        description="Five wrong codes end it.",
        body=schemas.CodeBody,
        answers={200: schemas.NumberVerified},
        refusals=[phone_numbers.WrongCode],
    )
    def post(self, request: Request) -> HttpResponse:
        body = self.body(schemas.CodeBody)
        phone_numbers.verify_code(by=self.person, number=body.to, code=body.code)
        return json_answer({"status": "verified"})


class OneNumber(QuerylessOwnerView):
    @operation(
        name="forgetPhoneNumber",
        tag=MESSAGES,
        summary="Forget a number",
        description="No message is sent to it any more.",
        parameters=[path_parameter("number_pk", "As the list has it.", {"type": "integer", "minimum": 0})],
        answers={204: None},
        refusals=[phone_numbers.UnknownNumber],
    )
    def delete(self, request: Request, number_pk: int) -> HttpResponse:
        self.body(Nothing)
        phone_numbers.forget_number(by=self.person, number_pk=number_pk)
        return HttpResponse(status=204)


class Messages(QuerylessOwnerView):
    @operation(
        name="listSentMessages",
        tag=MESSAGES,
        summary="Messages that were sent to one",
        description="Neither the number nor the words were kept.",
        answers={200: schemas.SentMessages},
    )
    def get(self, request: Request) -> HttpResponse:
        return json_answer({"messages": messaging_actions.messages_of(self.person.pk)})
