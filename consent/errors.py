"""Every refusal of the consent runtime, by its stable code (contract 1.7 and 2)."""

from common.problems import Kind, Problem, TemporarilyUnavailable


class UnknownUser(Problem):
    """Your app knows nobody by this name, and no invitation is open to it. Asking for many unknown people counts."""

    code, status, title = "unknown_user", 404, "No such person"
    usual_detail = (
        "Your app knows nobody by this name. Ask the person for a new sharing ID; a test app reaches its sandbox "
        "people, and members who agreed."
    )


class UnknownRequest(Problem):
    """There is no such request, or it is another app's: the two answers are the same."""

    code, status, title = "unknown_request", 404, "No such request"


class UnknownConnection(Problem):
    """There is no such connection, or it is another app's: the two answers are the same."""

    code, status, title = "unknown_connection", 404, "No such connection"


# fmt: off
InvalidConnectionCode = Kind("invalid_connection_code", 403, "This code completes nothing",
    "The code is not the one of the last return, nobody has connected yet, or ten minutes have passed since.")
InvalidReturnUrl = Kind("invalid_return_url", 400, "This return address is not registered",
    "The address is not under an origin that the app registered.")
UnknownReceipt = Kind("unknown_receipt", 404, "No such receipt",
    "There is no such receipt, or it is another app's: the two answers are the same.")
ScopeRegistryUnavailable = Kind("scope_registry_unavailable", 500, "The scope registry cannot be read",
    "The runtime cannot read its scope registry; nothing can be discovered until it can.")
OneScopePerRequest = Kind("one_scope_per_request", 400, "Ask for one scope at a time",
    "A request names exactly one scope, so that the person decides about one thing.")
ConnectorKeyRequired = Kind("connector_key_required", 400, "The connector key is missing",
    "A connector field is missing. Without the key, an approved slice could never be handed over.")
UnsupportedWrappingAlgorithm = Kind("unsupported_wrapping_algorithm", 400, "This wrapping algorithm is not supported",
    "Only ECDH-ES+A256KW wraps exports.")
RequestPending = Kind("request_pending", 409, "A different request is waiting already",
    "A request for the same person, scope and key waits already and differs; `request_id` names it. As what refused "
    "the request of a connection: your app asked this person for it before, and it waits or is shared.")
RecentlyDenied = Kind("recently_denied", 429, "The person refused this recently",
    "The person refused an overlapping request of this app a short while ago, or lets each app ask once a week; "
    "`Retry-After` says when to ask again.")
RequestBudgetSpent = Kind("request_budget_spent", 429, "No more new requests for now",
    "The app made as many new requests as it may: of this person in a day, or of all people in an hour.")
SlowDown = Kind("slow_down", 429, "Poll more slowly",
    "This request is polled too often; wait `interval` seconds between polls, or use `wait`.")
AuthorizationPending = Kind("authorization_pending", 409, "The person has not decided yet",
    "The person has not decided yet; there is nothing to read.")
AccessDenied = Kind("access_denied", 403, "The person refused",
    "The person refused.")
GrantEnded = Kind("grant_ended", 410, "The approval has ended",
    "What was asked or approved has ended; `request_status` and `grant_status` say how.")
GrantPaused = Kind("grant_paused", 403, "Sharing is paused",
    "The person paused sharing; it may resume.")
RequestChanged = Kind("request_changed", 409, "The request is not what was shown",
    "The digest of what was shown differs from what was asked; reload the request.")
InvalidAttributes = Kind("invalid_attributes", 400, "These attributes cannot be approved",
    "No attribute was approved, or one that lies outside the request.")
RequiredAttributeMissing = Kind("required_attribute_missing", 400, "A required attribute is missing",
    "An attribute that the request requires was not approved.")
InvalidDuration = Kind("invalid_duration", 400, "This duration cannot be approved",
    "The access duration is longer than was asked, or under 300 seconds.")
KeyNotVouched = Kind("key_not_vouched", 403, "Nobody vouches for this key",
    "The data is restricted, and neither the app's domain nor its owners vouch for the key it would be sealed to.")
ExportMismatch = Kind("export_mismatch", 400, "The sealed export does not match the request",
    "A member of the export's protected header does not match the request; `member` names it.")
# fmt: on


class ConnectionEnded(Problem):
    """Nobody can connect by this any more: it was used, declined, or its time is over."""

    code, status, title = "connection_ended", 410, "This connection is no longer open"


class InvalidScope(Problem):
    """The scope is unknown, not offered, or not discoverable for this person; which of these is not told."""

    code, title = "invalid_scope", "This scope cannot be asked for"
    usual_detail = "Nobody offers this scope, or this person does not: `GET /user-scopes/{user_id}` lists what they do."


class InvalidConnectorKey(Problem):
    """The connector key does not parse, is private, is no point of its curve, or fails a trial key agreement."""

    code, title = "invalid_connector_key", "The connector key cannot be used"


# --- Owner addresses -------------------------------------------------------------------------------------------------


class AlreadyDecided(Problem):
    """The request was decided before; `request_status` says how. One decision wins."""

    code, status, title = "already_decided", 409, "This request was decided already"


class RequestExpired(Problem):
    """The request waited too long and can no longer be decided."""

    code, status, title = "request_expired", 410, "This request has expired"


class UnknownGrant(Problem):
    """There is no such grant of yours."""

    code, status, title = "unknown_grant", 404, "No such approval"


class UnknownApp(Problem):
    """This app never asked about you."""

    code, status, title = "unknown_app", 404, "No such app"


class MoveNotAllowed(Problem):
    """The grant is not in a state from which this can be done; `grant_status` says where it stands."""

    code, status, title = "move_not_allowed", 409, "That is not possible any more"


class AuditUnavailable(TemporarilyUnavailable):
    """The audit chain cannot be written, so nothing is read or approved; ends and refusals take place all the same."""


class LogRefused(Exception):
    """What is asked for does not follow from what was signed before, or a part that must be there is missing."""
