"""What every refusal of this service looks like, and the refusals that any room may need.

A refusal is a `Problem` with a stable `code`, an HTTP `status` and a `title`. What is caught by itself is a class of
its own, every other one is a row: a `Kind`. One handler (common/admission/exceptions.py) renders them all as
application/problem+json (RFC 9457); the page /docs/errors is generated from the classes and the rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from common.shapes import ProblemDetails

if TYPE_CHECKING:
    from common.limits import Count


class FieldError(TypedDict):
    """One member of a body or query that does not fit."""

    field: str
    code: str
    message: str


class Problem(Exception):
    """A refusal with a stable code. `detail` is for people; `members` are added to the problem body.

    `limits` are what the call had met of them by then, for the headers of the answer.
    """

    code: ClassVar[str] = "problem"
    status: ClassVar[int] = 400
    title: ClassVar[str] = "The request was refused"
    usual_detail: ClassVar[str] = ""  # what is said where a refusal says nothing of its own; empty is the title
    media_type: ClassVar[str] = "application/problem+json"
    shape: ClassVar[type[BaseModel]] = ProblemDetails

    def __init__(
        self,
        detail: str = "",
        *,
        errors: list[FieldError] | None = None,
        headers: Mapping[str, str] | None = None,
        limits: Sequence["Count"] = (),
        **members: Any,
    ) -> None:
        self.detail = detail or self.usual_detail or self.title
        self.errors = errors or []
        self.headers = dict(headers or {})
        self.limits = tuple(limits)
        self.members = members
        super().__init__(self.detail)

    def body(self, trace_id: str) -> dict[str, Any]:
        """The problem details (RFC 9457)."""
        return {
            "type": f"/docs/errors#{self.code}",
            "title": str(self.title),
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            "trace_id": trace_id,
            # members of its own, which RFC 9457 allows; none may have a name from above, which it would replace: the
            # state of a grant is `grant_status`
            **self.members,
            **({"errors": self.errors} if self.errors else {}),
        }

    @classmethod
    def example(cls, trace_id: str) -> tuple[str, dict[str, Any]]:
        """Its code, and a body for the documentation."""
        return cls.code, cls().body(trace_id)


class Kind:
    """What a `Problem` is that nobody catches by itself: `raise SlowDown(interval=5)`, for a row `SlowDown`.

    `meaning` is for /docs/errors.
    """

    every: ClassVar[list["Kind"]] = []
    media_type, shape = Problem.media_type, Problem.shape

    def __init__(self, code: str, status: int, title: str, meaning: str) -> None:
        self.code, self.status, self.title, self.__doc__ = code, status, title, meaning
        self.every.append(self)

    def __call__(self, detail: str = "", **more: Any) -> Problem:
        problem = Problem(detail or self.title, **more)
        vars(problem).update(code=self.code, status=self.status, title=self.title)  # other problems have a class's
        return problem

    def example(self, trace_id: str) -> tuple[str, dict[str, Any]]:
        return self.code, self().body(trace_id)


def every_problem() -> Iterator[type[Problem] | Kind]:
    """Every refusal that is loaded, for the documentation and its test."""
    yield from Kind.every
    waiting = [Problem]
    while waiting:
        for subclass in waiting.pop().__subclasses__():
            waiting.append(subclass)
            yield subclass


class InvalidRequest(Problem):
    """The body or query is malformed, incomplete, wrongly typed, or holds a member that is not known."""

    code, title = "invalid_request", "The request does not fit"


# fmt: off
AuthenticationRequired = Kind("authentication_required", 401, "Sign in first",
    "An owner address was called without a signed-in session.")
CsrfFailed = Kind("csrf_failed", 403, "The page is too old or the request came from elsewhere",
    "A session was used without its CSRF token.")
ReauthenticationRequired = Kind("reauthentication_required", 403, "Confirm that it is you",
    "A sensitive step needs a sign-in of the last ten minutes; `url` is where to confirm it.")
# fmt: on


class NotFound(Problem):
    """There is nothing at this address, or it is not yours."""

    code, status, title = "not_found", 404, "Not found"


class MethodNotAllowed(Problem):
    """The address exists but does not take this method; `Allow` lists what it takes."""

    code, status, title = "method_not_allowed", 405, "Method not allowed"


class PayloadTooLarge(Problem):
    """The body is larger than this address takes."""

    code, status, title = "payload_too_large", 413, "The body is too large"


class UnsupportedMediaType(Problem):
    """The body is not `application/json`."""

    code, status, title = "unsupported_media_type", 415, "Send application/json"


class TooManyRequests(Problem):
    """A limit was reached; `Retry-After` says when to go on."""

    code, status, title = "too_many_requests", 429, "Too many requests"


class TemporarilyUnavailable(Problem):
    """The database is away, the process ends, or the audit cannot be written for what gives access; nothing changed."""

    code, status, title = "temporarily_unavailable", 503, "Temporarily unavailable"


Model = TypeVar("Model", bound=BaseModel)


def field_errors(error: ValidationError) -> list[FieldError]:
    """What does not fit, at most twenty members, in our words or pydantic's; never with what was given."""
    return [
        {"field": ".".join(map(str, failure["loc"]))[:200], "code": failure["type"], "message": _message(failure)}
        for failure in error.errors(include_url=False, include_context=False, include_input=False)[:20]
    ]


def _message(failure: ErrorDetails) -> str:
    if failure["type"] == "model_type":
        return "give an object"  # pydantic would name a class of ours
    return failure["msg"].removeprefix("Value error, ")  # pydantic puts it before a validator's own words


def checked(model: type[Model], data: object, *, special: Mapping[str, Kind | type[Problem]] | None = None) -> Model:
    """`data` as a strict pydantic `model`, or the refusal that names every member that does not fit.

    `special` maps an error type of the model's own validators to the problem that answers instead of
    `invalid_request`; the first such error wins.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        refused = error
    for failure in refused.errors(include_url=False, include_context=False, include_input=False):
        if special and failure["type"] in special:
            raise special[failure["type"]](failure["msg"]) from None
    listed = field_errors(refused)
    raise InvalidRequest(_in_words(listed), errors=listed)


def _in_words(listed: list[FieldError]) -> str:
    """Which members do not fit, or else what is wrong with the whole."""
    named = ", ".join(sorted({entry["field"].split(".")[0] for entry in listed if entry["field"]}))
    if named:
        return f"These members do not fit: {named}."
    if any(entry["code"] == "model_type" for entry in listed):
        return "The body must be a JSON object."
    reasons = "; ".join(entry["message"] for entry in listed)
    return f"{reasons[:1].upper()}{reasons[1:]}."
