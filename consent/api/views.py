"""One view for each operation of the developers' REST (contract 1.2 to 1.6): parse, call, answer."""

import orjson
from django.http import HttpRequest, HttpResponse

from common.identifiers import is_identifier
from common.json_bodies import json_answer
from common.network import client_address
from consent import status
from consent.api import descriptions as described
from consent.api.base import AskingView, DeveloperView
from consent.api.headers import client_hint, idempotency_key, prefers_jose
from consent.api.polling import StatusPolls, pace
from consent.decisions import actions as decision_actions
from consent.discovery import actions as discovery_actions
from consent.discovery import queries as discovery_queries
from consent.exports import reads
from consent.ledger import queries as ledger_queries
from consent.log import receipt_proofs
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

_BY_ACCEPT = {"Vary": "Accept"}


class UserScopes(AskingView):
    """What a person could be asked for."""

    needs = frozenset({"discover"})

    @described.user_scopes
    def get(self, request: HttpRequest, user_id: str) -> HttpResponse:
        self.hint = client_hint(request)
        scopes, guesses = discovery_actions.discover_scopes(app=self.app, name=user_id, hint=self.hint)
        self.note(guesses)
        return json_answer(scopes)


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

    def look_at_limits(self) -> None:
        super().look_at_limits()
        if request_limits.REQUESTS_PER_HOUR not in self.limits:
            self.note(request_limits.look_at_hourly_budget(self.app))

    @described.request_consent
    def post(self, request: HttpRequest) -> HttpResponse:
        key = idempotency_key(request)
        self.hint = client_hint(request)
        asked = creation.request_consent(
            app=self.app, body=self.body(RequestConsentBody, special=SPECIAL), idempotency_key=key, hint=self.hint
        )
        self.note(*asked.limits)
        return json_answer(asked.answer, status=201 if asked.is_new else 200)


class ConsentStatus(DeveloperView):
    """Where a request stands, at once or when it changes."""

    throttle_classes = (StatusPolls,)
    needs = frozenset({"request", "read"})
    takes_query = True

    @described.consent_status
    def get(self, request: HttpRequest) -> HttpResponse:
        query = self.query(StatusQuery)
        found = status.for_app(
            app_pk=self.app.app_pk, request_id=query.request_id, user_id=query.user_id, scope=query.scope
        )
        if query.wait and found["status"] == RequestStatus.PENDING:
            if not waiting.hub.is_full(self.app.app_pk):
                found = waiting.wait_for_change(
                    app_pk=self.app.app_pk,
                    token_pk=self.app.token_pk,
                    request_id=found["request_id"],
                    seconds=query.wait,
                )
            else:
                self.note(pace(self.app.app_pk, found["request_id"]))  # who is not held polls, and polls are paced
        return json_answer(found)


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
        return json_answer(status.for_app(app_pk=self.app.app_pk, request_id=asked.request_id))


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
