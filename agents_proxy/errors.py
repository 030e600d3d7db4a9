"""The refusals of this room: JSON-RPC objects at the agents' addresses (contract 4.1), problems everywhere else."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

from pydantic import BaseModel

from common.problems import Kind, Problem


class AgentError(BaseModel):
    """`code` as JSON-RPC has it; `data.code` names a refusal of ours."""

    code: int
    message: str
    data: dict[str, Any] | None = None


class AgentRefusal(BaseModel):
    """A JSON-RPC error of the proxy's own."""

    jsonrpc: Literal["2.0"]
    id: str | None
    error: AgentError


class Refusal(Exception):
    """A refusal of the proxy itself. `name` is what `error.data.code` says; `members` are added to `error.data`."""

    media_type: ClassVar[str] = "application/json"
    shape: ClassVar[type[BaseModel]] = AgentRefusal
    status: ClassVar[int]
    code: ClassVar[int]
    name: ClassVar[str]
    message: ClassVar[str]

    def __init__(self, *, headers: Mapping[str, str] | None = None, **members: Any) -> None:
        self.headers = dict(headers or {})
        self.members = members
        super().__init__(self.name)

    @property
    def reason(self) -> str:
        """What is kept of it, and what pages have words for: its name, but where another refusal has that too."""
        return self.name

    def body(self, trace_id: str, *, task_id: str | None = None) -> dict[str, Any]:
        """An `AgentRefusal`: `error.data.code` names it, `trace_id` finds it in our logs."""
        data = {"code": self.name, "trace_id": trace_id, **self.members}
        return {"jsonrpc": "2.0", "id": task_id, "error": {"code": self.code, "message": self.message, "data": data}}

    @classmethod
    def example(cls, trace_id: str) -> tuple[str, dict[str, Any]]:
        """Its name, and a body for the documentation."""
        return cls.name, cls().body(trace_id, task_id="task-1")


def every_refusal() -> Iterator[type[Refusal]]:
    """Every refusal that there is, for the documentation and its test."""
    waiting = [Refusal]
    while waiting:
        for subclass in waiting.pop().__subclasses__():
            waiting.append(subclass)
            yield subclass


class InvalidJson(Refusal):
    """The body is not JSON, or JSON that parsers only forgive: duplicate keys, NUL, NaN, too deep."""

    status, code, name, message = 400, -32700, "invalid_json", "The body is not valid JSON."


class InvalidParams(Refusal):
    """The body or the query does not fit; `data.errors` says where."""

    status, code, name, message = 400, -32602, "invalid_params", "The parameters do not fit."


class ConsentRequired(Refusal):
    """There is no live consent for this agent's purpose; `data.consent_url` is where a person gives it."""

    status, code, name, message = 403, -32050, "consent_required", "A person has to agree to this first."


class OriginRefused(Refusal):
    """The call comes from a web page whose origin no active app has registered."""

    status, code, name, message = 403, -32051, "origin_refused", "This origin is not registered."


class CsrfRefused(Refusal):
    """A session was used without its CSRF token."""

    status, code, name, message = 403, -32051, "csrf_failed", "The session came without its CSRF token."


class UnknownAgent(Refusal):
    """There is no agent of this name."""

    status, code, name, message = 404, -32601, "unknown_agent", "There is no such agent."


class WrongMethod(Refusal):
    """Agents are called with POST."""

    status, code, name, message = 405, -32600, "method_not_allowed", "Agents are called with POST."


class TooLarge(Refusal):
    """The body is larger than a prompt can be."""

    status, code, name, message = 413, -32600, "payload_too_large", "The body is too large."


class WrongMediaType(Refusal):
    """The body is not `application/json` in UTF-8."""

    status, code, name, message = 415, -32600, "unsupported_media_type", "Send application/json in UTF-8."


class TooManyCalls(Refusal):
    """This session or address calls too often, or too many calls are under way; `Retry-After` says when to return."""

    status, code, name, message = 429, -32052, "too_many_requests", "Too many calls; try again later."


class TooManyMessages(Refusal):
    """This person, or this app for all people, had as many messages sent within an hour as it may."""

    status, code, name, message = 429, -32052, "too_many_requests", "No more messages for now; try again later."
    reason = "message_budget_spent"


class NotConfigured(Refusal):
    """This deployment has no upstream for the agent."""

    status, code, name, message = 503, -32054, "agent_not_configured", "This agent is not available here."


class Unavailable(Refusal):
    """The database is away or this process ends; `Retry-After` says when to return.

    No agent was asked, unless the database went away meanwhile: then nobody can say whether the consent still stands.
    """

    status, code, name, message = 503, -32059, "temporarily_unavailable", "Temporarily unavailable; try again later."


class SubjectMismatch(Refusal):
    """The prompt names an address or number that the person who agreed has not verified, or the reply others alone.

    A reply that was withheld so was made: the agent may have done what it was asked.
    """

    status, code, name, message = 403, -32058, "subject_mismatch", "Agents are asked about the person who agreed alone."


class SubjectNotVerified(Refusal):
    """The person who agreed has verified no address and no number; `data.verify_url` is where they do."""

    status, code, name, message = 403, -32060, "subject_not_verified", "The person has to verify an address first."


class CallFailed(Refusal):
    """The agent was asked, and no answer came of it. Whether it did something is not known, so nothing is repeated."""

    status, code, name, message = 502, -32053, "upstream_unavailable", "The agent cannot be reached."
    upstream_text = ""  # by the upstream, for the operator's log alone


class InvalidAgentResponse(CallFailed):
    """The agent answered something else than a JSON-RPC object for this call, or too much, or a redirect."""

    status, code, name, message = 502, -32006, "invalid_agent_response", "The agent's answer makes no sense."


class AgentRefusedUs(CallFailed):
    """The agent does not take this deployment's credentials; its operator can do something about it."""

    status, code, name, message = 502, -32057, "agent_refused_us", "The agent refuses this service."


class AgentBusy(CallFailed):
    """The agent takes no more calls for now; `Retry-After` is its own."""

    status, code, name, message = 429, -32052, "too_many_requests", "The agent takes no more calls for now."
    reason = "agent_busy"


class UpstreamTimeout(CallFailed):
    """The agent did not answer completely in time."""

    status, code, name, message = 504, -32055, "upstream_timeout", "The agent took too long."


# fmt: off
ReportNotSigned = Kind("invalid_signature", 401, "The signature does not fit",
    "The report is unsigned, signed with another secret, or older than five minutes; or none are taken here.")
UnknownMessage = Kind("unknown_message", 404, "No such message",
    "No message fits what the report names.")
OriginNotRegistered = Kind("origin_refused", 403, "This origin is not registered",
    "The call comes from a web page whose origin no active app has registered.")
UnknownConsent = Kind("unknown_consent", 404, "No such consent",
    "There is no such consent, or it is somebody else's.")
# fmt: on


class AgreementRequired(Problem):
    """There is no live consent that covers this; `consent_url` says where a person gives it."""

    code, status, title = "consent_required", 403, "A person has to agree to this first"


class AddressNotVerified(Problem):
    """The e-mail address is none that the person who agreed has verified; `data.verify_url` is where they do."""

    code, status, title = "subject_not_verified", 403, "This address is not verified as the person's own"


class ConsentEnded(Problem):
    """The consent that covers this has ended; a person has to agree anew."""

    code, status, title = "consent_ended", 403, "The consent to this processing has ended"
