"""One view for each operation of the developers' REST (contract 1.2 to 1.6): parse, call, answer."""

import orjson
from django.http import HttpRequest, HttpResponse
from rest_framework.authentication import BaseAuthentication

from common.admission.requests import JSONRequest
from common.identifiers import is_identifier
from common.json_bodies import json_answer
from common.network import client_address
from common.problems import InvalidRequest
from consent import status_queries
from consent.api import descriptions as described
from consent.api import discovery_reads, hot_reads
from consent.api.base import AskingView, DeveloperView
from consent.api.headers import client_hint, idempotency_key, prefers_jose
from consent.api.polling import StatusPolls, pace
from consent.decisions import actions as decision_actions
from consent.discovery import actions as discovery_actions
from consent.discovery import queries as discovery_queries
from consent.exports import reads
from consent.ledger import queries as ledger_queries
from consent.log import receipt_proofs
from consent.meter import Meter
from consent.notices import waiting
from consent.requests import creation
from consent.requests import limits as request_limits
from consent.requests import queries as request_queries
from consent.requests.receipt_jsonld import JSON_LD, as_jsonld
from consent.schemas import (
    SPECIAL,
    EndConsentBody,
    ExportQuery,
    ListQuery,
    ReceiptQuery,
    RequestConsentBody,
    StatusQuery,
)
from consent.shapes import Receipt as ReceiptShape
from consent.shapes import UnprovenReceipt
from consent.states import RequestStatus
from developers.authentication import AppContext, DeveloperToken

_BY_ACCEPT = {"Vary": "Accept"}


class UserScopes(AskingView):
    """What a person could be asked for."""

    needs = frozenset({"discover"})

    def get_authenticators(self) -> list[BaseAuthentication]:
        return [DeveloperToken(self._token_and_person)]

    def _token_and_person(self, token: str, request: JSONRequest) -> AppContext | None:
        return discovery_reads.token_and_person(token, lambda: (_sharing_id(self.kwargs["user_id"]), _hint(request)))

    @described.user_scopes
    def get(self, request: HttpRequest, user_id: str) -> HttpResponse:
        self.meter.hint = client_hint(request)
        known = _sharing_id(user_id)
        person = discovery_reads.person_of(app=self.app, user_id=known, hint=self.meter.hint)
        found = discovery_actions.discover_scopes(app=self.app, user_id=known, person=person, meter=self.meter)
        return json_answer(found)


def _sharing_id(given: str) -> str:
    """What cannot be a sharing ID is an unknown one, counted like every other."""
    return given if is_identifier(given) else ""


def _hint(request: JSONRequest) -> str:
    """The hint, or none where it is malformed: that is refused after the token alone was looked at."""
    try:
        return client_hint(request)
    except InvalidRequest:
        return ""


def _person_asked(request: JSONRequest) -> str:
    """The sharing ID in a body that nobody has checked; what is wrong with it is refused after the token."""
    body = request.look_ahead()
    named = body.get("user_id") if isinstance(body, dict) else None
    return _sharing_id(named) if isinstance(named, str) else ""


class ScopeCatalog(DeveloperView):
    """What anybody could be asked for."""

    needs = frozenset({"discover"})

    @described.scope_catalog
    def get(self, request: HttpRequest) -> HttpResponse:
        return HttpResponse(discovery_queries.scope_catalog(), content_type="application/json")


class RequestConsent(AskingView):
    """Ask one person for one scope."""

    needs = frozenset({"request"})
    http_method_names = ["post"]

    def get_authenticators(self) -> list[BaseAuthentication]:
        return [DeveloperToken(self._token_and_person)]

    def _token_and_person(self, token: str, request: JSONRequest) -> AppContext | None:
        return discovery_reads.token_and_person(token, lambda: (_person_asked(request), _hint(request)))

    def look_at_limits(self, meter: Meter) -> None:
        super().look_at_limits(meter)
        if request_limits.REQUESTS_PER_HOUR not in meter.counts:
            request_limits.look_at_hourly_budget(app=self.app, meter=meter)

    @described.request_consent
    def post(self, request: HttpRequest) -> HttpResponse:
        key = idempotency_key(request)
        self.meter.hint = client_hint(request)
        asked = self.body(RequestConsentBody, special=SPECIAL)
        person = discovery_reads.person_of(app=self.app, user_id=asked.user_id, hint=self.meter.hint)
        answer, created = creation.request_consent(
            app=self.app, body=asked, idempotency_key=key, person=person, meter=self.meter
        )
        return json_answer(answer, status=201 if created else 200)


def _token_and_status(token: str, request: JSONRequest) -> AppContext | None:
    return hot_reads.token_and_status(token, dict(request.query_pairs).get("request_id"))


class ConsentStatus(DeveloperView):
    """Where a request stands, at once or when it changes."""

    throttle_classes = (StatusPolls,)
    needs = frozenset({"request", "read"})
    takes_query = True

    def get_authenticators(self) -> list[BaseAuthentication]:
        return [DeveloperToken(_token_and_status)]

    @described.consent_status
    def get(self, request: HttpRequest) -> HttpResponse:
        query = self.query(StatusQuery)
        status = hot_reads.status_body(
            app=self.app, request_id=query.request_id, user_id=query.user_id, scope=query.scope
        )
        if query.wait and status["status"] == RequestStatus.PENDING:
            if not waiting.hub.is_full(self.app.app_pk):
                status = waiting.wait_for_change(
                    app_pk=self.app.app_pk,
                    token_pk=self.app.token_pk,
                    request_id=status["request_id"],
                    seconds=query.wait,
                )
            else:
                pace(self.app.app_pk, status["request_id"], self.meter)  # who is not held polls, and polls are paced
        return json_answer(status)


class ConsentExport(DeveloperView):
    """The approved slice, sealed. Every 200 counts as a read."""

    needs = frozenset({"read"})
    takes_query = True

    @described.consent_export
    def get(self, request: HttpRequest) -> HttpResponse:
        key = idempotency_key(request)
        query = self.query(ExportQuery)
        export = reads.read_export(
            app=self.app,
            request_id=query.request_id,
            accept_jose=prefers_jose(request),
            if_none_match=request.META.get("HTTP_IF_NONE_MATCH"),
            idempotency_key=key,
            address=client_address(request),
        )
        headers = {"ETag": export.etag, **_BY_ACCEPT}
        answer = HttpResponse(export.body, status=export.status, content_type=export.content_type, headers=headers)
        if export.status == 304:
            del answer["Content-Type"]
        return answer


class EndConsent(DeveloperView):
    """The app takes its request back, or gives an approval up."""

    needs = frozenset({"request"})
    http_method_names = ["post"]

    @described.end_consent
    def post(self, request: HttpRequest) -> HttpResponse:
        asked = self.body(EndConsentBody)
        decision_actions.end_consent(app_pk=self.app.app_pk, request_id=asked.request_id)
        return json_answer(status_queries.status_body(app_pk=self.app.app_pk, request_id=asked.request_id))


class ConsentRequests(DeveloperView):
    """What this app asked for, newest first."""

    needs = frozenset({"request", "read"})
    takes_query = True

    @described.consent_requests
    def get(self, request: HttpRequest) -> HttpResponse:
        query = self.query(ListQuery)
        page = request_queries.requests_of_app(
            app_pk=self.app.app_pk, status_is=query.status, cursor=query.cursor, limit=query.limit
        )
        return json_answer(page)


class Receipt(DeveloperView):
    """The signed proof of one event, in the app's copy."""

    needs = frozenset({"read"})
    takes_query = True

    @described.receipt
    def get(self, request: HttpRequest, receipt_id: str) -> HttpResponse:
        query = self.query(ReceiptQuery)
        known_form = receipt_id if is_identifier(receipt_id) else ""
        receipt = ledger_queries.receipt_for_app(app_pk=self.app.app_pk, receipt_id=known_form)
        if query.format == "jsonld":
            return HttpResponse(orjson.dumps(as_jsonld(receipt["claims"])), content_type=JSON_LD)
        if query.proof:
            return self._with_proof(receipt)
        if prefers_jose(request):
            return HttpResponse(receipt["jws"], content_type="application/jose", headers=_BY_ACCEPT)
        return json_answer(receipt, headers=_BY_ACCEPT)

    def _with_proof(self, receipt: ReceiptShape) -> HttpResponse:
        """202 until the log has the entry, and as many witnesses as must have seen it."""
        proven = receipt_proofs.proof_for_app(app_id=self.app.app_id, claims=receipt["claims"])
        if proven is None:
            waiting: UnprovenReceipt = {"receipt_id": receipt["receipt_id"], "proof": None}
            return json_answer(waiting, status=202, headers={"Retry-After": "3"})
        return json_answer({**receipt, "entry": proven["entry"], "proof": proven["proof"]})
