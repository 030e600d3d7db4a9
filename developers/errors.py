"""What a developer's program is told when its token does not let it in."""

from common.problems import Kind, Problem


class InvalidToken(Problem):
    """The developer token is missing, unknown, expired or revoked, or may only travel in the header."""

    code, status, title = "invalid_token", 401, "A valid developer token is needed"

    def __init__(self, detail: str = "", challenge: str = "Bearer") -> None:
        super().__init__(detail, headers={"WWW-Authenticate": challenge})


# fmt: off
BrowserPathRefused = Kind("browser_path_refused", 403, "Call this address from your server",
    "The call came from a web page; developer tokens belong on servers, never in a browser.")
AppSuspended = Kind("app_suspended", 403, "This app is suspended",
    "Staff suspended the app; none of its tokens work until that is settled.")
InsufficientScope = Kind("insufficient_scope", 403, "The token lacks a permission",
    "The token is good but lacks the permission that this address needs.")
IdempotencyConflict = Kind("idempotency_conflict", 409, "This Idempotency-Key belongs to another request",
    "This Idempotency-Key was used with another body; use a new one for another request.")
# fmt: on
