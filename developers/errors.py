"""What a developer's program is told when its token does not let it in."""

from common.problems import Problem


class InvalidToken(Problem):
    """The developer token is missing, unknown, expired or revoked, or may only travel in the header."""

    code, status, title = "invalid_token", 401, "A valid developer token is needed"

    def __init__(self, detail: str = "", challenge: str = "Bearer") -> None:
        super().__init__(detail, headers={"WWW-Authenticate": challenge})


class BrowserPathRefused(Problem):
    """The call came from a web page; developer tokens belong on servers, never in a browser."""

    code, status, title = "browser_path_refused", 403, "Call this address from your server"


class AppSuspended(Problem):
    """Staff suspended the app; none of its tokens work until that is settled."""

    code, status, title = "app_suspended", 403, "This app is suspended"


class InsufficientScope(Problem):
    """The token is good but lacks the permission that this address needs."""

    code, status, title = "insufficient_scope", 403, "The token lacks a permission"


class IdempotencyConflict(Problem):
    """This Idempotency-Key was used with another body; use a new one for another request."""

    code, status, title = "idempotency_conflict", 409, "This Idempotency-Key belongs to another request"
