"""One view for each operation of the developers' REST (contract 1.2 to 1.6): parse, call, answer."""

from django.http import HttpRequest, HttpResponse

from accounts.answers import json_answer
from common.network import client_address
from consent import actions, limits, queries, waiting
from consent.api import descriptions as described
from consent.api.base import (
    AskingView,
    DeveloperView,
    arguments,
    body,
    client_hint,
    idempotency_key,
    no_arguments,
    prefers_jose,
)
from consent.api.pacing import look, pace
from consent.limits import Meter
from consent.schemas import (
    SPECIAL,
    EndConsentBody,
    ExportQuery,
    ListQuery,
    RequestConsentBody,
    StatusQuery,
    is_identifier,
)
from consent.states import RequestStatus
from developers.authentication import Beside, query_pairs

_BY_ACCEPT = {"Vary": "Accept"}


class UserScopes(AskingView):
    """What a person could be asked for."""

    needs = frozenset({"discover"})

    @described.user_scopes
    def get(self, request: HttpRequest, user_id: str) -> HttpResponse:
        no_arguments(request)
        self.meter.hint = client_hint(request)
        # what cannot be a sharing ID is an unknown one, counted like every other
        known_form = user_id if is_identifier(user_id) else ""
        scopes = queries.user_scopes(app=self.app, user_id=known_form, meter=self.meter)
        return HttpResponse(scopes, content_type="application/json")


class ScopeCatalog(DeveloperView):
    """What anybody could be asked for."""

    needs = frozenset({"discover"})

    @described.scope_catalog
    def get(self, request: HttpRequest) -> HttpResponse:
        no_arguments(request)
        return HttpResponse(queries.scope_catalog(), content_type="application/json")


class RequestConsent(AskingView):
    """Ask one person for one scope."""

    needs = frozenset({"request"})
    http_method_names = ["post"]

    def look_at_limits(self, meter: Meter) -> None:
        super().look_at_limits(meter)
        if limits.REQUESTS_PER_HOUR not in meter.counts:
            limits.look_at_hourly_budget(app=self.app, meter=meter)

    @described.request_consent
    def post(self, request: HttpRequest) -> HttpResponse:
        key = idempotency_key(request)
        self.meter.hint = client_hint(request)
        asked = body(request, RequestConsentBody, special=SPECIAL)
        answer, created = actions.request_consent(app=self.app, body=asked, idempotency_key=key, meter=self.meter)
        return json_answer(answer, status=201 if created else 200)


class ConsentStatus(DeveloperView):
    """Where a request stands, at once or when it changes."""

    needs = frozenset({"request", "read"})

    def beside(self, request: HttpRequest) -> Beside | None:
        return queries.status_beside(dict(query_pairs(request)).get("request_id"))

    def limit(self, request: HttpRequest) -> None:
        given = dict(query_pairs(request))
        named = given.get("request_id") or f"{given.get('user_id', '')} {given.get('scope', '')}"
        count = look if given.get("wait", "").strip("0-") else pace
        count(self.app.app_pk, named[:300], self.meter)

    @described.consent_status
    def get(self, request: HttpRequest) -> HttpResponse:
        query = arguments(request, StatusQuery)
        status = queries.status_body(
            app_pk=self.app.app_pk,
            request_id=query.request_id,
            user_id=query.user_id,
            scope=query.scope,
            beside=self.app.beside,
        )
        if query.wait and status["status"] == RequestStatus.PENDING:
            if not waiting.hub.is_full(self.app.app_pk):
                status = waiting.wait_for_change(
                    app_pk=self.app.app_pk, request_id=status["request_id"], seconds=query.wait
                )
            else:
                pace(self.app.app_pk, status["request_id"], self.meter)  # who is not held polls, and polls are paced
        return json_answer(status)


class ConsentExport(DeveloperView):
    """The approved slice, sealed. Every 200 counts as a read."""

    needs = frozenset({"read"})

    @described.consent_export
    def get(self, request: HttpRequest) -> HttpResponse:
        key = idempotency_key(request)
        query = arguments(request, ExportQuery)
        export = actions.read_export(
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
        asked = body(request, EndConsentBody)
        actions.end_consent(app_pk=self.app.app_pk, request_id=asked.request_id)
        return json_answer(queries.status_body(app_pk=self.app.app_pk, request_id=asked.request_id))


class ConsentRequests(DeveloperView):
    """What this app asked for, newest first."""

    needs = frozenset({"request", "read"})

    @described.consent_requests
    def get(self, request: HttpRequest) -> HttpResponse:
        query = arguments(request, ListQuery)
        page = queries.requests_of_app(
            app_pk=self.app.app_pk, status_is=query.status, cursor=query.cursor, limit=query.limit
        )
        return json_answer(page)


class Receipt(DeveloperView):
    """The signed proof of one event, in the app's copy."""

    needs = frozenset({"read"})

    @described.receipt
    def get(self, request: HttpRequest, receipt_id: str) -> HttpResponse:
        no_arguments(request)
        known_form = receipt_id if is_identifier(receipt_id) else ""
        receipt = queries.receipt_for_app(app_pk=self.app.app_pk, receipt_id=known_form)
        if prefers_jose(request):
            return HttpResponse(receipt["jws"], content_type="application/jose", headers=_BY_ACCEPT)
        return json_answer(receipt, headers=_BY_ACCEPT)
