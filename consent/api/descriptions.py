"""What the OpenAPI document and the docs page say of each operation."""

from drf_spectacular.utils import OpenApiParameter

from common.problems import TooManyRequests
from consent import errors, shapes
from consent.api import samples
from consent.schemas import WHO, EndConsentBody, LeakedTokenBody, RequestConsentBody
from consent.states import RequestStatus
from developers.errors import IdempotencyConflict
from developers.operations import header_parameter, operation, path_parameter, query_parameter

DISCOVER, ASK, READ, VERIFY = "1. Discover", "2. Ask and wait", "3. Read", "4. Verify"
SANDBOX, PROTECT = "5. Play a person in the sandbox", "7. Protect"


_CLIENT_HINT = header_parameter(
    "X-Client-Hint",
    "Whatever tells your own callers apart, such as a session's name: the limit on unknown people is then that "
    "caller's, and your app's other callers keep theirs. Only some bits of a keyed hash are kept.",
)
_REQUEST_ID = {"type": "string", "pattern": "^[A-Za-z0-9_]{1,64}$", "example": samples.REQUEST_ID}
_PERSON = {"type": "string", "pattern": "^([A-Za-z0-9_]{1,64}|@[a-z0-9-]{1,63})$", "example": samples.USER_ID}
_SCOPE = {"type": "string", "minLength": 1, "maxLength": 210}
_SECONDS_TO_WAIT = {"type": "integer", "minimum": 0, "maximum": 30, "default": 0}
_PAGE_SIZE = {"type": "integer", "minimum": 1, "maximum": 100, "default": 50}
_STATES = [str(state) for state in RequestStatus]

user_scopes = operation(
    name="getUserScopes",
    tag=DISCOVER,
    summary="What one person could be asked for",
    description=(
        "The scopes that this person could approve today. It holds none of their data, and does not tell which of the "
        "attributes they have. They see in the consent app that your app looked. Asking for many unknown people is "
        "limited; people whom your app asked before neither count nor are refused."
    ),
    permission="`discover`",
    parameters=[
        path_parameter("user_id", WHO, samples.USER_ID),
        _CLIENT_HINT,
    ],
    answers={200: shapes.UserScopes},
    example=samples.USER_SCOPES,
    refusals=[errors.UnknownUser, TooManyRequests, errors.ScopeRegistryUnavailable],
)
scope_catalog = operation(
    name="getScopeCatalog",
    tag=DISCOVER,
    summary="What anybody could be asked for",
    description="Every scope that this service lets apps ask for, without any person. Scopes differ between people.",
    permission="`discover`",
    answers={200: shapes.ScopeCatalog},
    example=samples.SCOPE_CATALOG,
    refusals=[errors.ScopeRegistryUnavailable],
)
people = operation(
    name="findPeople",
    tag=DISCOVER,
    summary="People who let apps find them",
    description=(
        "Those who switched their public profile on and allowed apps to find them, whose handle or name begins with "
        "`query`, whatever the case; all of them without one. Give `next_cursor` as `cursor` for the following page. "
        "Being listed agrees to nothing: ask as you would ask anybody. A test app finds its own sandbox people and "
        "members. Searches are limited by the hour."
    ),
    permission="`discover`",
    parameters=[
        query_parameter(
            "query", "How the handle or name begins.", {"type": "string", "minLength": 1, "maxLength": 100}
        ),
        query_parameter("cursor", "Where the page begins.", {"type": "string", "minLength": 1, "maxLength": 64}),
        query_parameter("limit", "People on a page.", _PAGE_SIZE),
    ],
    answers={200: shapes.FoundPeople},
    example=samples.PEOPLE,
    refusals=[TooManyRequests],
)
request_consent = operation(
    name="requestConsent",
    tag=ASK,
    summary="Ask one person for one scope",
    description=(
        "Makes a request that waits in the person's consent app, and answers 201. Where the very same request waits "
        "already, it answers 200 with that one. Send the person to `approval_url`, then poll the status. What they "
        "approve is sealed to `connector_public_key`: keep its private half safe, nobody else can open the answer. New "
        "requests are limited, of one person in 24 hours and of everybody in an hour, and those that you take back "
        "count too; what is found again or refused costs nothing."
    ),
    permission="`request`",
    parameters=[
        header_parameter("Idempotency-Key", "Repeats the first answer to the same body for 24 hours."),
        _CLIENT_HINT,
    ],
    body=RequestConsentBody,
    body_example=samples.REQUEST_BODY,
    answers={201: shapes.AskedConsent, 200: shapes.AskedConsent},
    example=samples.ASKED,
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
consent_status = operation(
    name="getConsentStatus",
    tag=ASK,
    summary="Where a request stands",
    description=(
        "Name the request by `request_id`, or by `user_id` and `scope` for your newest one of that pair. With `wait` "
        "the answer is held until the status changes. A decided request answers at once. Polling without `wait` is "
        "paced: a burst of 30, then twice a second."
    ),
    permission="`request` or `read`",
    parameters=[
        query_parameter("request_id", "The request.", _REQUEST_ID),
        query_parameter("user_id", "The person, named as ever; together with `scope`.", _PERSON),
        query_parameter("scope", "The scope; together with `user_id`.", _SCOPE),
        query_parameter("wait", "Seconds to hold the answer.", _SECONDS_TO_WAIT),
    ],
    answers={200: shapes.ConsentStatus},
    example=samples.STATUS,
    refusals=[errors.UnknownRequest, errors.SlowDown],
)
end_consent = operation(
    name="endConsent",
    tag=ASK,
    summary="Take a request back, or give an approval up",
    description="A pending request becomes `cancelled`, a live approval `released`. Repeated calls answer the same.",
    permission="`request`",
    body=EndConsentBody,
    body_example=samples.END_BODY,
    answers={200: shapes.ConsentStatus},
    example=samples.ENDED,
    refusals=[errors.UnknownRequest],
)
consent_requests = operation(
    name="listConsentRequests",
    tag=ASK,
    summary="Everything that your app asked for",
    description="Newest first, in pages. Give `next_cursor` as `cursor` for the following page.",
    permission="`request` or `read`",
    parameters=[
        query_parameter("status", "Only requests with this status.", {"type": "string", "enum": _STATES}),
        query_parameter("cursor", "Where the page begins.", {"type": "string", "minLength": 1, "maxLength": 64}),
        query_parameter("limit", "Requests on a page.", _PAGE_SIZE),
    ],
    answers={200: shapes.ConsentRequests},
    example=samples.REQUESTS,
)
consent_events = operation(
    name="streamConsentEvents",
    tag=ASK,
    summary="Everything that happens to your requests, as it happens",
    description=(
        "Server-sent events: `event: consent`, `id` your app's own sequence number, `data` the status body as it was "
        "then, as the schema `ConsentEvent` has them. What happened to a request is its `status`; what happened to an "
        "approval is `grant.status`: `released` and `superseded` both keep the request's `approved`. Send "
        "`Last-Event-ID` to resume without a gap; without it, the stream begins now. A comment comes every "
        "15 seconds. A stream ends after an hour, or when its token does."
    ),
    permission="`request` or `read`",
    parameters=[
        OpenApiParameter(
            "Last-Event-ID",
            {"type": "string", "pattern": "^[0-9]{1,15}$"},
            OpenApiParameter.HEADER,
            description=(
                "The last sequence number that you have seen; 0 for everything that is kept; 400 beyond your app's "
                "newest, and where events after it are no longer kept."
            ),
        )
    ],
    answers={},
    example={},
    stream="The events.",
    refusals=[TooManyRequests],
)
consent_export = operation(
    name="getConsentExport",
    tag=READ,
    summary="The approved slice, sealed to your key",
    description=(
        "Every 200 is one read: it is counted and the person sees it. An `ETag` with `If-None-Match` gives 304 and "
        "counts nothing; a repeat with the same `Idempotency-Key` within ten minutes counts once. Compare every header "
        "member of the JWE with your own request before you use what is in it."
    ),
    permission="`read`",
    parameters=[
        query_parameter("request_id", "The request.", _REQUEST_ID, required=True),
        header_parameter("Idempotency-Key", "Makes repeats within ten minutes one read."),
        OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER, description="The `ETag` that you hold."),
    ],
    answers={200: shapes.ConsentExport},
    example=samples.EXPORT,
    jose="The compact JWE alone.",
    not_modified=True,
    refusals=[
        errors.UnknownRequest,
        errors.AuthorizationPending,
        errors.AccessDenied,
        errors.GrantPaused,
        errors.GrantEnded,
        IdempotencyConflict,
    ],
)
receipt = operation(
    name="getReceipt",
    tag=VERIFY,
    summary="The signed receipt of one event",
    description=(
        "Proof of an approval, a refusal or an end, in your app's copy. It can be verified offline. With "
        "`format=jsonld` the same claims come as `application/ld+json`, in terms of the W3C Data Privacy Vocabulary: "
        "to be read by others' tools, and without a signature. With `proof=1` the entry of the event comes with the "
        "signed form, and the proof that the public log has that; 202 until it does."
    ),
    permission="`read`",
    parameters=[
        path_parameter("receipt_id", "As told by the status.", samples.RECEIPT_ID),
        query_parameter("format", "Linked data instead of the signed form.", {"type": "string", "enum": ["jsonld"]}),
        query_parameter("proof", "With the entry and its proof; not with `format`.", {"type": "string", "enum": ["1"]}),
    ],
    answers={200: shapes.Receipt, 202: shapes.UnprovenReceipt},
    example=samples.RECEIPT,
    examples={202: samples.UNPROVEN_RECEIPT},
    jose="The compact JWS alone.",
    refusals=[errors.UnknownReceipt],
)
consent_keys = operation(
    name="getConsentKeys",
    tag=VERIFY,
    summary="The keys that verify receipts",
    description="A JSON Web Key Set. Open to all, without a token. Old keys stay in it.",
    answers={200: shapes.ConsentKeys},
    example=samples.KEYS,
)
consent_checkpoint = operation(
    name="getConsentCheckpoint",
    tag=VERIFY,
    summary="The newest signed checkpoint",
    description="Where the log of all audit entries stood. Open to all, without a token. 404 until one is signed.",
    answers={200: shapes.ConsentCheckpoint},
    example=samples.CHECKPOINT,
)
leaked_tokens = operation(
    name="reportLeakedToken",
    tag=PROTECT,
    summary="End a token that leaked",
    description=(
        "For anybody who found a developer token or a management token where it does not belong, scanners of public "
        "code too. Open to all, without a token. A real one is revoked at once and its owners are told by mail; the "
        "answer is always the same."
    ),
    answers={202: shapes.LeakReported},
    example={},
    body=LeakedTokenBody,
    body_example=samples.LEAKED_BODY,
    refusals=[TooManyRequests],
)
