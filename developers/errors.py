"""What a developer's program is told when its token does not let it in."""

from common.problems import Problem


class InvalidToken(Problem):
    """The developer token is missing, unknown, expired or revoked, or may only travel in the header."""

    code = "invalid_token"
    status = 401
    title = "A valid developer token is needed"

    def __init__(self, detail: str = "", challenge: str = "Bearer") -> None:
        super().__init__(detail, headers={"WWW-Authenticate": challenge})


class BrowserPathRefused(Problem):
    """The call came from a web page; developer tokens belong on servers, never in a browser."""

    code = "browser_path_refused"
    status = 403
    title = "Call this address from your server"


class AppSuspended(Problem):
    """Staff suspended the app; none of its tokens work until that is settled."""

    code = "app_suspended"
    status = 403
    title = "This app is suspended"


class InsufficientScope(Problem):
    """The token is good but lacks the permission that this address needs."""

    code = "insufficient_scope"
    status = 403
    title = "The token lacks a permission"


class IdempotencyConflict(Problem):
    """This Idempotency-Key was used with another body; use a new one for another request."""

    code = "idempotency_conflict"
    status = 409
    title = "This Idempotency-Key belongs to another request"
