"""Every refusal of the consent runtime, by its stable code (contract 1.7 and 2)."""

from common.problems import Problem, TemporarilyUnavailable


class UnknownUser(Problem):
    """Your app knows nobody by this name, and no invitation is open to it. Asking for many unknown people counts."""

    code = "unknown_user"
    status = 404
    title = "No such person"


class UnknownRequest(Problem):
    """There is no such request, or it is another app's: the two answers are the same."""

    code = "unknown_request"
    status = 404
    title = "No such request"


class UnknownConnection(Problem):
    """There is no such connection, or it is another app's: the two answers are the same."""

    code = "unknown_connection"
    status = 404
    title = "No such connection"


class InvalidConnectionCode(Problem):
    """The code is not the one of the last return, nobody has connected yet, or ten minutes have passed since."""

    code = "invalid_connection_code"
    status = 403
    title = "This code completes nothing"


class ConnectionEnded(Problem):
    """Nobody can connect by this any more: it was used, declined, or its time is over."""

    code = "connection_ended"
    status = 410
    title = "This connection is no longer open"


class InvalidReturnUrl(Problem):
    """The address is not under an origin that the app registered."""

    code = "invalid_return_url"
    title = "This return address is not registered"


class UnknownReceipt(Problem):
    """There is no such receipt, or it is another app's: the two answers are the same."""

    code = "unknown_receipt"
    status = 404
    title = "No such receipt"


class ScopeRegistryUnavailable(Problem):
    """The runtime cannot read its scope registry; nothing can be discovered until it can."""

    code = "scope_registry_unavailable"
    status = 500
    title = "The scope registry cannot be read"


class OneScopePerRequest(Problem):
    """A request names exactly one scope, so that the person decides about one thing."""

    code = "one_scope_per_request"
    title = "Ask for one scope at a time"


class InvalidScope(Problem):
    """The scope is unknown, not offered, or not discoverable for this person; which of these is not told."""

    code = "invalid_scope"
    title = "This scope cannot be asked for"


class ConnectorKeyRequired(Problem):
    """A connector field is missing. Without the key, an approved slice could never be handed over."""

    code = "connector_key_required"
    title = "The connector key is missing"


class InvalidConnectorKey(Problem):
    """The connector key does not parse, is private, is no point of its curve, or fails a trial key agreement."""

    code = "invalid_connector_key"
    title = "The connector key cannot be used"


class UnsupportedWrappingAlgorithm(Problem):
    """Only ECDH-ES+A256KW wraps exports."""

    code = "unsupported_wrapping_algorithm"
    title = "This wrapping algorithm is not supported"


class RequestPending(Problem):
    """A request for the same person, scope and key waits already and differs; `request_id` names it."""

    code = "request_pending"
    status = 409
    title = "A different request is waiting already"


class RecentlyDenied(Problem):
    """The person refused an overlapping request of this app a short while ago, or lets each app ask once a week;
    `Retry-After` says when to ask again."""

    code = "recently_denied"
    status = 429
    title = "The person refused this recently"


class RequestBudgetSpent(Problem):
    """The app made as many new requests as it may: of this person in a day, or of all people in an hour."""

    code = "request_budget_spent"
    status = 429
    title = "No more new requests for now"


class SlowDown(Problem):
    """This request is polled too often; wait `interval` seconds between polls, or use `wait`."""

    code = "slow_down"
    status = 429
    title = "Poll more slowly"


class AuthorizationPending(Problem):
    """The person has not decided yet; there is nothing to read."""

    code = "authorization_pending"
    status = 409
    title = "The person has not decided yet"


class AccessDenied(Problem):
    """The person refused."""

    code = "access_denied"
    status = 403
    title = "The person refused"


class GrantEnded(Problem):
    """What was asked or approved has ended; `request_status` and `grant_status` say how."""

    code = "grant_ended"
    status = 410
    title = "The approval has ended"


class GrantPaused(Problem):
    """The person paused sharing; it may resume."""

    code = "grant_paused"
    status = 403
    title = "Sharing is paused"


# --- Owner addresses -------------------------------------------------------------------------------------------------
class RequestChanged(Problem):
    """The digest of what was shown differs from what was asked; reload the request."""

    code = "request_changed"
    status = 409
    title = "The request is not what was shown"


class AlreadyDecided(Problem):
    """The request was decided before; `request_status` says how. One decision wins."""

    code = "already_decided"
    status = 409
    title = "This request was decided already"


class RequestExpired(Problem):
    """The request waited too long and can no longer be decided."""

    code = "request_expired"
    status = 410
    title = "This request has expired"


class InvalidAttributes(Problem):
    """No attribute was approved, or one that lies outside the request."""

    code = "invalid_attributes"
    title = "These attributes cannot be approved"


class RequiredAttributeMissing(Problem):
    """An attribute that the request requires was not approved."""

    code = "required_attribute_missing"
    title = "A required attribute is missing"


class InvalidDuration(Problem):
    """The access duration is longer than was asked, or under 300 seconds."""

    code = "invalid_duration"
    title = "This duration cannot be approved"


class KeyNotVouched(Problem):
    """The data is restricted, and neither the app's domain nor its owners vouch for the key it would be sealed to."""

    code = "key_not_vouched"
    status = 403
    title = "Nobody vouches for this key"


class ExportMismatch(Problem):
    """A member of the export's protected header does not match the request; `member` names it."""

    code = "export_mismatch"
    title = "The sealed export does not match the request"


class UnknownGrant(Problem):
    """There is no such grant of yours."""

    code = "unknown_grant"
    status = 404
    title = "No such approval"


class UnknownApp(Problem):
    """This app never asked about you."""

    code = "unknown_app"
    status = 404
    title = "No such app"


class MoveNotAllowed(Problem):
    """The grant is not in a state from which this can be done; `grant_status` says where it stands."""

    code = "move_not_allowed"
    status = 409
    title = "That is not possible any more"


class AuditUnavailable(TemporarilyUnavailable):
    """The audit chain cannot be written, so nothing is read or approved; ends and refusals take place all the same."""


class LogRefused(Exception):
    """What is asked for does not follow from what was signed before, or a part that must be there is missing."""
