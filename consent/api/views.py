"""One view for each operation of the developers' REST (contract 1.2 to 1.6): parse, call, answer."""

import orjson
from django.http import HttpRequest, HttpResponse
from drf_spectacular.utils import OpenApiParameter

from common.identifiers import is_identifier
from common.json_bodies import json_answer
from common.network import client_address
from common.operations import header_parameter, operation, path_parameter, query_parameter
from common.problems import TooManyRequests
from consent import errors, schemas, shapes, status
from consent.api.base import DISCOVER, READ, REQUEST, VERIFY, DeveloperView, LimitedView
from consent.api.headers import CLIENT_HINT, client_hint, idempotency_key, prefers_jose
from consent.api.polling import StatusPolls, pace, peek, polled
from consent.decisions import actions as decision_actions
from consent.discovery import actions as discovery_actions
from consent.discovery import queries as discovery_queries
from consent.exports import reads
from consent.ledger import queries as ledger_queries
from consent.log import published
from consent.notices import long_polling
from consent.requests import budgets, creation
from consent.requests import queries as request_queries
from consent.requests.receipt_jsonld import JSON_LD, as_jsonld
from consent.states import RequestStatus
from developers.errors import IdempotencyConflict

_BY_ACCEPT = {"Vary": "Accept"}
_REQUEST_ID = {"type": "string", "pattern": "^[!-~]{1,64}$", "example": shapes.EXAMPLE_REQUEST_ID}
_PERSON = {"type": "string", "pattern": "^[!-~]{1,64}$", "example": shapes.EXAMPLE_USER_ID}
_SCOPE = {"type": "string", "minLength": 1, "maxLength": 210}
_SECONDS_TO_WAIT = {"type": "integer", "minimum": 0, "maximum": 30, "default": 0}


class UserScopes(LimitedView):
    """What a person could be asked for."""

    needs = frozenset({"discover"})
    takes_query = True

    @operation(
        name="getUserScopes",
        tag=DISCOVER,
        summary="What one person could be asked for",
        description="The scopes that this person could approve today. It holds none of their data, and does not tell "
        "which of the attributes they have. They see in the consent app that your app looked. Asking for many unknown "
        "people is limited; people whom your app asked before neither count nor are refused.",
        parameters=[path_parameter("user_id", schemas.WHO, shapes.EXAMPLE_USER_ID), CLIENT_HINT],
        query=schemas.ScopesQuery,
        answers={200: shapes.UserScopes},
        refusals=[errors.UnknownUser, TooManyRequests, errors.ScopeRegistryUnavailable],
    )
    def get(self, request: HttpRequest, user_id: str) -> HttpResponse:
        self.hint = client_hint(request)
        wanted = self.query(schemas.ScopesQuery)
        scopes, unknown_count = discovery_actions.discover_scopes(
            app=self.app, name=user_id, hint=self.hint, wanted=wanted
        )
        self.note(unknown_count)
        return json_answer(scopes)


class ScopeCatalog(DeveloperView):
    """What anybody could be asked for."""

    needs = frozenset({"discover"})
    takes_query = True

    @operation(
        name="getScopeCatalog",
        tag=DISCOVER,
        summary="What anybody could be asked for",
        description="Every scope that this service lets apps ask for, without any person. Scopes differ between "
        "people.",
        query=schemas.ScopesQuery,
        answers={200: shapes.ScopeCatalog},
        refusals=[errors.ScopeRegistryUnavailable],
    )
    def get(self, request: HttpRequest) -> HttpResponse:
        wanted = self.query(schemas.ScopesQuery)
        return HttpResponse(discovery_queries.scope_catalog(wanted), content_type="application/json")


class RequestConsent(LimitedView):
    """Ask one person for one scope."""

    needs = frozenset({"request"})

    def note_limits(self) -> None:
        super().note_limits()
        if budgets.REQUESTS_PER_HOUR not in self.limits:
            self.note(budgets.peek_hourly_budget(self.app))

    @operation(
        name="requestConsent",
        tag=REQUEST,
        summary="Ask one person for one scope",
        description="Makes a request that waits in the person's consent app, and answers 201. Where the very same "
        "request waits already, it answers 200 with that one. Send the person to `approval_url`, then poll the status. "
        "What they approve is sealed to `connector_public_key`: keep its private half safe, nobody else can open the "
        "answer. New requests are limited, of one person in 24 hours and of everybody in an hour, and those that you "
        "take back count too; what is found again or refused costs nothing.",
        parameters=[
            header_parameter("Idempotency-Key", "Repeats the first answer to the same body for 24 hours."),
            CLIENT_HINT,
        ],
        body=schemas.RequestConsentBody,
        answers={201: shapes.MadeRequest, 200: shapes.MadeRequest},
        refusals=[
            errors.OneScopePerRequest,
            errors.ConnectorKeyRequired,
            errors.InvalidConnectorKey,
            errors.UnsupportedWrappingAlgorithm,
            errors.InvalidScope,
            errors.UnknownUser,
            errors.RequestPending,
            IdempotencyConflict,
            errors.RecentlyDenied,
            TooManyRequests,
            errors.RequestBudgetSpent,
            errors.ScopeRegistryUnavailable,
        ],
    )
    def post(self, request: HttpRequest) -> HttpResponse:
        key = idempotency_key(request)
        self.hint = client_hint(request)
        made = creation.request_consent(
            app=self.app,
            body=self.body(schemas.RequestConsentBody, special=schemas.SPECIAL),
            idempotency_key=key,
            hint=self.hint,
        )
        self.note(*made.limits)
        return json_answer(made.body, status=201 if made.is_new else 200)


class ConsentStatus(DeveloperView):
    """Where a request stands, at once or when it changes."""

    throttle_classes = (StatusPolls,)
    needs = frozenset({"request", "read"})
    takes_query = True

    def note_limits(self) -> None:
        if not self.limits:
            self.note(peek(self.app.app_pk, polled(self.request)))

    @operation(
        name="getConsentStatus",
        tag=REQUEST,
        summary="Where a request stands",
        description="Name the request by `request_id`, or by `user_id` and `scope` for your newest one of that pair. "
        "With `wait` the answer is held until the status changes. A decided request answers at once. Polling without "
        "`wait` is paced: a burst of 30, then twice a second.",
        parameters=[
            query_parameter("request_id", "The request; then neither `user_id` nor `scope`.", _REQUEST_ID),
            query_parameter("user_id", "The person, named as ever; together with `scope`.", _PERSON),
            query_parameter("scope", "The scope; together with `user_id`.", _SCOPE),
            query_parameter("wait", "Seconds to hold the answer.", _SECONDS_TO_WAIT),
        ],
        answers={200: shapes.ConsentStatus},
        refusals=[errors.UnknownRequest, errors.SlowDown],
    )
    def get(self, request: HttpRequest) -> HttpResponse:
        query = self.query(schemas.StatusQuery)
        found = status.for_app(
            app_pk=self.app.app_pk, request_id=query.request_id, user_id=query.user_id, scope=query.scope
        )
        if query.wait and found["status"] == RequestStatus.PENDING:
            if not long_polling.hub.is_full(self.app.app_pk, is_live=self.app.is_live):
                found = long_polling.wait_for_change(app=self.app, request_id=found["request_id"], seconds=query.wait)
            else:
                self.note(pace(self.app.app_pk, found["request_id"]))  # who is not held polls, and polls are paced
        return json_answer(found)


class ConsentExport(DeveloperView):
    """The approved slice, sealed. Every 200 counts as a read."""

    needs = frozenset({"read"})
    takes_query = True

    @operation(
        name="getConsentExport",
        tag=READ,
        summary="The approved slice, sealed to your key",
        description="Every 200 is one read: it is counted and the person sees it. An `ETag` with `If-None-Match` gives "
        "304 and counts nothing; a repeat with the same `Idempotency-Key` within ten minutes counts once. Compare "
        "every header member of the JWE with your own request before you use what is in it.",
        parameters=[
            query_parameter("request_id", "The request.", _REQUEST_ID, required=True),
            header_parameter("Idempotency-Key", "Makes repeats within ten minutes one read."),
            OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER, description="The `ETag` that you hold."),
        ],
        answers={200: shapes.ConsentExport, 304: None},
        jose="The compact JWE alone.",
        refusals=[
            errors.UnknownRequest,
            errors.AuthorizationPending,
            errors.AccessDenied,
            errors.GrantPaused,
            errors.GrantEnded,
            IdempotencyConflict,
        ],
    )
    def get(self, request: HttpRequest) -> HttpResponse:
        key = idempotency_key(request)
        query = self.query(schemas.ExportQuery)
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

    @operation(
        name="endConsent",
        tag=REQUEST,
        summary="Take a request back, or give an approval up",
        description="A pending request becomes `cancelled`, a live approval `released`. Repeated calls answer the "
        "same.",
        body=schemas.EndConsentBody,
        answers={200: shapes.ConsentStatus},
        example={"sequence": 42, "grant": {"status": "released"}},
        refusals=[errors.UnknownRequest],
    )
    def post(self, request: HttpRequest) -> HttpResponse:
        body = self.body(schemas.EndConsentBody)
        decision_actions.end_consent(app_pk=self.app.app_pk, request_id=body.request_id)
        return json_answer(status.for_app(app_pk=self.app.app_pk, request_id=body.request_id))


class ConsentRequests(DeveloperView):
    """What this app asked for, newest first."""

    needs = frozenset({"request", "read"})
    takes_query = True

    @operation(
        name="listConsentRequests",
        tag=REQUEST,
        summary="Everything that your app asked for",
        description="Newest first, in pages. Give `next_cursor` as `cursor` for the following page.",
        query=schemas.ListQuery,
        answers={200: shapes.ConsentRequests},
    )
    def get(self, request: HttpRequest) -> HttpResponse:
        query = self.query(schemas.ListQuery)
        page = request_queries.requests_of_app(
            app_pk=self.app.app_pk, status_is=query.status, cursor=query.cursor, limit=query.limit
        )
        return json_answer(page)


class Receipt(DeveloperView):
    """The signed proof of one event, in the app's copy."""

    needs = frozenset({"read"})
    takes_query = True

    @operation(
        name="getReceipt",
        tag=VERIFY,
        summary="The signed receipt of one event",
        description="Proof of an approval, a refusal or an end, in your app's copy. It can be verified offline. With "
        "`format=jsonld` the same claims come as `application/ld+json`, in terms of the W3C Data Privacy Vocabulary: "
        "to be read by others' tools, and without a signature. With `proof=1` the entry of the event comes with the "
        "signed form, and the proof that the public log has that; 202 until it does.",
        parameters=[path_parameter("receipt_id", "As told by the status.", shapes.EXAMPLE_RECEIPT_ID)],
        query=schemas.ReceiptQuery,
        answers={200: shapes.Receipt, 202: shapes.UnprovenReceipt},
        jose="The compact JWS alone.",
        refusals=[errors.UnknownReceipt],
    )
    def get(self, request: HttpRequest, receipt_id: str) -> HttpResponse:
        query = self.query(schemas.ReceiptQuery)
        known_form = receipt_id if is_identifier(receipt_id) else ""
        receipt = ledger_queries.receipt_for_app(app_pk=self.app.app_pk, receipt_id=known_form)
        if query.format == "jsonld":
            return HttpResponse(orjson.dumps(as_jsonld(receipt["claims"])), content_type=JSON_LD)
        if query.proof:
            return self._with_proof(receipt)
        if prefers_jose(request):
            return HttpResponse(receipt["jws"], content_type="application/jose", headers=_BY_ACCEPT)
        return json_answer(receipt, headers=_BY_ACCEPT)

    def _with_proof(self, receipt: shapes.Receipt) -> HttpResponse:
        """202 until the log has the entry, and as many witnesses as must have seen it."""
        proven = published.proof_for_app(app_id=self.app.app_id, claims=receipt["claims"])
        if proven is None:
            unproven: shapes.UnprovenReceipt = {"receipt_id": receipt["receipt_id"], "proof": None}
            return json_answer(unproven, status=202, headers={"Retry-After": "3"})
        return json_answer({**receipt, "entry": proven["entry"], "proof": proven["proof"]})
