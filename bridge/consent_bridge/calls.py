"""The developer's calls, apart from how they are sent: what goes out, and what the answer is read as.

`Client` and `AsyncClient` are made of the same calls and plans, so that neither can know one that the other does not.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import uuid
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from functools import update_wrapper
from typing import Any, Generic, TypeVar, Unpack
from urllib.parse import quote

from consent_bridge import logs, notes, proofs, results
from consent_bridge.encoding import encode_base64url
from consent_bridge.errors import BadAnswer, BridgeError, Problem, Refused, Unreachable, WaitTimeout
from consent_bridge.keys import check_connector_key, public_half, thumbprint
from consent_bridge.logs import Memory, ProvenEvent, Trust
from consent_bridge.notes import Checkpoint, VerifierKey
from consent_bridge.opening import check_request, compare
from consent_bridge.signatures import sha256
from consent_bridge.terms import Terms
from consent_bridge.transport import TRANSIENT, Answer

WRAPPING_ALG = "ECDH-ES+A256KW"
LONGEST_WAIT = 30
_POLL_PAUSE = 1.0
_SURROGATE = re.compile("[\ud800-\udfff]")
_IDEMPOTENCY_KEY = re.compile(r"(?! )[^\x00-\x1f\x7f\ud800-\udfff]{1,128}(?<! )\Z")

Result = TypeVar("Result")


@dataclass(frozen=True)
class Call(Generic[Result]):
    """One call: `read` makes the result of the answer; only what is `repeatable` may be sent twice."""

    method: str
    path: str
    read: Callable[[Answer], Result]
    params: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    extra_time: float = 0.0
    repeatable: bool = True
    public: bool = False  # under the service's origin and without the token


@dataclass(frozen=True)
class Fetched:
    """A sealed export with its entity tag; `envelope` is None where it has not changed since the tag that was sent."""

    envelope: results.Envelope | None
    etag: str


def whole(fetched: Fetched) -> results.Envelope:
    """The export where no tag was sent, so that there has to be one."""
    if fetched.envelope is None:
        raise BadAnswer("the server answered 304 where nothing was known")
    return fetched.envelope


def discover(
    user_id: str, *, client_hint: str | None = None, domain: str | None = None, query: str | None = None
) -> Call[results.Discovery]:
    """Which scopes this person could approve; only those of `domain`, and in which the text `query` stands.

    `client_hint` is whatever tells your own callers apart, a session's name perhaps; only a hash of it is sent. Who
    asks about too many unknown people then locks themselves out, and not your whole app.
    """

    def read(answer: Answer) -> results.Discovery:
        return results.build(results.Discovery, answer.json())

    params = _query(domain=domain, query=query)
    return Call("GET", f"/user-scopes/{_part(user_id)}", read, params=params, headers=_hint(client_hint))


def _hint(client_hint: str | None) -> dict[str, str]:
    """The header that names the app's own caller: as a hash, so that any text will do and none of it leaves the app."""
    if client_hint is None:
        return {}
    return {"X-Client-Hint": _hash_of(client_hint)}


def _hash_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _in_ascii(key: str) -> str:
    """The service reads no other text in a header: the hash stands for it."""
    return key if key.isascii() else _hash_of(key)


def catalog(*, domain: str | None = None, query: str | None = None) -> Call[tuple[results.ScopeEntry, ...]]:
    """Every scope of this deployment that can be asked for, of nobody in particular; chosen as by `discover`."""

    def read(answer: Answer) -> tuple[results.ScopeEntry, ...]:
        entries = answer.json().get("scope_entries")
        if not isinstance(entries, list):
            raise BadAnswer("the answer has no scope_entries")
        return tuple(results.build(results.ScopeEntry, entry) for entry in entries)

    return Call("GET", "/scope-catalog", read, params=_query(domain=domain, query=query))


def people(
    query: str | None = None, *, cursor: str | None = None, limit: int | None = None
) -> Call[results.PeoplePage]:
    """One page of the people who let apps find them, by how handle or name begins; all without `query`.

    Give `next_cursor` as `cursor` for the next page.
    """
    params = _query(query=query, cursor=cursor, limit=limit)
    return Call("GET", "/people", lambda answer: results.build(results.PeoplePage, answer.json()), params=params)


def request_consent(
    user_id: str,
    scope: str,
    *,
    purpose: str,
    key: Mapping[str, Any],
    connector_key_id: str | None = None,
    idempotency_key: str | None = None,
    client_hint: str | None = None,
    **terms: Unpack[Terms],
) -> Call[results.MadeRequest]:
    """Ask for one scope; keep the answer, an export is checked against it.

    `key` is the connector's JWK, of which the public half is sent; its thumbprint is its name unless another is given.
    With `idempotency_key` (1 to 128 characters) the same call may be made again: it repeats the first answer for a day.
    `client_hint` as in `discover`.
    """
    if idempotency_key and not _IDEMPOTENCY_KEY.match(idempotency_key):
        reason = "the idempotency key is not 1 to 128 characters without controls and without spaces around it"
        raise Refused(reason, member="idempotency_key")
    along = request_along(scope, purpose=purpose, key=key, connector_key_id=connector_key_id, **terms)
    body = {"user_id": user_id, **_invitation(user_id), **along}

    def read(answer: Answer) -> results.MadeRequest:
        request = results.build(results.MadeRequest, answer.json())
        check_request(request, body)
        return request

    headers = _hint(client_hint) | ({"Idempotency-Key": _in_ascii(idempotency_key)} if idempotency_key else {})
    return Call("POST", "/request-consent", read, body=body, headers=headers, repeatable=bool(idempotency_key))


def _invitation(user_id: str) -> dict[str, str]:
    """What the person's vault compares with its own, so that the service cannot take them for somebody else."""
    return {"invitation_sha256": sha256(user_id)} if user_id.startswith("sh_") and user_id.isascii() else {}


def request_along(
    scope: str, *, purpose: str, key: Mapping[str, Any], connector_key_id: str | None = None, **terms: Unpack[Terms]
) -> dict[str, Any]:
    """What to ask of whoever connects, as `begin_connection` takes it; the private half of `key` stays here.

    JSON without anything secret, to be kept until the connection is completed. Errors: KeyRefused.
    """
    public = public_half(key) if "d" in key else check_connector_key(key)
    return {
        "scope": scope,
        "purpose": purpose,
        "connector_public_key": public,
        "connector_key_id": connector_key_id or thumbprint(public),
        "connector_wrapping_alg": WRAPPING_ALG,
        **{name: value for name, value in terms.items() if value is not None},
    }


def begin_connection(
    *, return_url: str | None = None, binding_message: str | None = None, request: Mapping[str, Any] | None = None
) -> Call[results.MadeConnection]:
    """Let somebody connect: send them to `connect_url`, or, without a `return_url`, show `code` and `code_url`.

    `request` is what `request_along` made; keep it, with the browser session that began, until it is completed.
    """
    given = {"return_url": return_url, "binding_message": binding_message, "request": request}
    body = {name: value for name, value in given.items() if value is not None}
    return Call(
        "POST",
        "/connections",
        lambda answer: results.build(results.MadeConnection, answer.json()),
        body=body,
        repeatable=False,
    )


def connection(
    connection_id: str, *, wait: int = 0, request: Mapping[str, Any] | None = None, return_url: str | None = None
) -> Call[results.Connection]:
    """Where it stands; `wait` (0 to 30 s) holds the answer. What was asked along is compared with `request`."""

    def read(answer: Answer) -> results.Connection:
        return _checked(answer, connection_id, request, return_url)

    return Call("GET", _connection(connection_id), read, params=_query(wait=wait or None), extra_time=float(wait))


def complete_connection(
    connection_id: str,
    connection_code: str,
    *,
    request: Mapping[str, Any] | None = None,
    return_url: str | None = None,
) -> Call[results.Connection]:
    """Complete it with the code of the return: only in the browser session that began it. Safe to repeat.

    Its `request` is the `MadeRequest` to read by. `request` and `return_url` as it was begun with.
    """

    def read(answer: Answer) -> results.Connection:
        return _checked(answer, connection_id, request, return_url)

    body = {"connection_code": connection_code}
    return Call("POST", f"{_connection(connection_id)}/complete", read, body=body)


def end_connection(user_id: str) -> Call[None]:
    """Forget this person: what waits is cancelled, what may be read is released, and the name leads nowhere."""
    return Call("DELETE", _connection(user_id), lambda _: None, repeatable=False)


def _connection(name: str) -> str:
    return f"/connections/{_part(name)}"


def _checked(
    answer: Answer, connection_id: str, request: Mapping[str, Any] | None, return_url: str | None
) -> results.Connection:
    """Where it stands; what was asked along is our own request, and of whom this very connection is the way to."""
    found = results.build(results.Connection, answer.json())
    compare("connection_id", found.connection_id, connection_id, "the answer")
    made_request = found.request
    if made_request is None:
        return found
    if request is None:
        raise Refused("a request was asked along; give the one that the connection was begun with", member="request")
    compare("user_id", made_request.user_id, found.user_id, "the answer")
    given = {"user_id": found.user_id, "invitation_sha256": sha256(connection_id), "return_url": return_url}
    check_request(made_request, {**request, **given})
    return found


def status(request_id: str, *, wait: int = 0) -> Call[results.Status]:
    """Where a request stands; `wait` (0 to 30 s) holds the answer until that changes."""
    return _status_call(wait, request_id=request_id)


def newest_status(user_id: str, scope: str, *, wait: int = 0) -> Call[results.Status]:
    """The same for the app's newest request for this person and scope."""
    return _status_call(wait, user_id=user_id, scope=scope)


def _status_call(wait: int, **named: str) -> Call[results.Status]:
    params = _query(**named, wait=wait or None)
    return Call("GET", "/consent-status", _status, params=params, extra_time=float(wait))


def fetched_export(request_id: str, etag: str = "") -> Call[Fetched]:
    """Sent again under the same key where the answer was lost, so that it counts as one read."""

    def read(answer: Answer) -> Fetched:
        found = None if answer.status == 304 else results.build(results.Envelope, answer.json())
        return Fetched(found, answer.headers.get("ETag", ""))

    headers = {"Idempotency-Key": uuid.uuid4().hex, **({"If-None-Match": etag} if etag else {})}
    return Call("GET", "/consent-export", read, params=_query(request_id=request_id), headers=headers)


def end(request_id: str) -> Call[results.Status]:
    """Cancel a pending request or release a live grant; repeated, the same answer."""
    return Call("POST", "/end-consent", _status, body={"request_id": request_id})


def requests(
    *, status: str | None = None, cursor: str | None = None, limit: int | None = None
) -> Call[results.RequestPage]:
    """One page of this app's requests."""
    params = _query(status=status, cursor=cursor, limit=limit)
    return Call(
        "GET", "/consent-requests", lambda answer: results.build(results.RequestPage, answer.json()), params=params
    )


def keys() -> Call[dict[str, bytes]]:
    return Call("GET", proofs.KEYS_PATH, lambda answer: proofs.read_keys(answer.json()), public=True)


def log_keys() -> Call[tuple[VerifierKey, ...]]:
    return Call("GET", "/log/key", lambda answer: logs.read_keys(_text(answer)), public=True)


def log_checkpoint() -> Call[str]:
    return Call("GET", "/log/checkpoint", _text, public=True)


def log_consistency(old: int, new: int) -> Call[tuple[bytes, ...]]:
    def read(answer: Answer) -> tuple[bytes, ...]:
        return logs.read_consistency(_text(answer))

    return Call("GET", "/log/consistency", read, params={"old": str(old), "new": str(new)}, public=True)


def log_proof(entry_hash: str) -> Call[str | None]:
    """The tlog-proof of an entry; None where the log does not have it yet."""

    def read(answer: Answer) -> str | None:
        return _text(answer) if answer.status == 200 else None

    return Call("GET", f"/log/proof/{_part(entry_hash)}", read, public=True)


LogCall = Generator[Call[Any], Any, Result]  # yields the calls that it needs, gets what their answers are read as
Step = Call[Any] | float | Callable[[], Any]  # seconds to let pass, and what takes so long that it belongs in a thread
Plan = Generator[Step, Any, Result]


def advance(plan: Generator[Any, Any, Any], outcome: Any) -> Any:
    """The next step of a plan, once the last one's result, or the error that it ended in, is told."""
    return plan.throw(outcome) if isinstance(outcome, BridgeError) else plan.send(outcome)


def carried_out(plan: Generator[Any, Any, Result], do: Callable[[Any], Any]) -> Result:
    """What a plan comes to, `do` being how its steps are done."""
    outcome: Any = None
    while True:
        try:
            step = advance(plan, outcome)
        except StopIteration as done:
            result: Result = done.value
            return result
        try:
            outcome = do(step)
        except BridgeError as error:
            outcome = error


async def awaited(plan: Generator[Any, Any, Result], do: Callable[[Any], Awaitable[Any]]) -> Result:
    """The same, each step awaited."""
    outcome: Any = None
    while True:
        try:
            step = advance(plan, outcome)
        except StopIteration as done:
            result: Result = done.value
            return result
        try:
            outcome = await do(step)
        except BridgeError as error:
            outcome = error


def as_method(act: Callable[..., Any], method: Callable[..., Any]) -> None:
    """Let a method that was made of a call be described as it is: with its name, text, arguments, and a `self`."""
    found = inspect.signature(act)
    given = [each for each in found.parameters.values() if each.name != "self"]
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    update_wrapper(method, act)
    vars(method)["__signature__"] = found.replace(parameters=[itself, *given])


def _published(memory: Memory) -> LogCall[str]:
    """The newest checkpoint that is published; NothingPublished where there is none yet."""
    try:
        note: str = yield log_checkpoint()
    except Problem as problem:
        if problem.status != 404:
            raise
        raise memory.of_no_checkpoint() from problem
    return note


def follow_log(memory: Memory | None) -> LogCall[Memory]:
    """What a reader remembers once it looked at the newest checkpoint; the keys are pinned at the first look."""
    known = memory or Memory(Trust((yield log_keys())))
    newest = known.read((yield from _published(known)))
    known.require_no_rollback(newest)
    seen = yield from tied(known, newest)
    return seen.with_keys((yield log_keys())) if seen.keys_seem_changed() else seen


def tied(memory: Memory, seen: Checkpoint) -> LogCall[Memory]:
    """The memory once this checkpoint was shown to fit what was seen before."""
    gap = memory.gap(seen)
    proof = (yield log_consistency(*gap)) if gap else ()
    return memory.tie(seen, proof)


Proven = tuple[ProvenEvent, Memory]


def accept_epoch(memory: Memory, origin: str) -> LogCall[Memory]:
    """What a reader remembers once it takes the tree that began anew under this name, on its caller's word."""
    newest = memory.begun_anew((yield from _published(memory)))
    if newest is None or newest.origin != origin:
        raise Refused(f"the log did not begin anew as {origin}, or no key that is known signed it", member="origin")
    return memory.accepting(newest)


def begins_after(newest: Memory, last: Checkpoint) -> LogCall[bool]:
    """Whether the first leaf of a tree is the hash of this checkpoint of the one before it."""
    leaf = hashlib.sha256(notes.signed_by_log(last.note).encode()).digest()
    text = yield log_proof(encode_base64url(leaf))
    if text is None:
        return False
    proof = newest.read_proof(text, tied=True)
    proof.check(leaf)
    yield from tied(newest, proof.checkpoint)
    return proof.index == 0


def one(call: Call[Result]) -> LogCall[Result]:
    """One call alone."""
    answer: Result = yield call
    return answer


def prove_receipt(memory: Memory, claims: Mapping[str, Any], answer: Mapping[str, Any]) -> LogCall[Proven]:
    """What a receipt's entry and proof show, in a checkpoint that fits what this reader saw."""
    event = logs.check_receipt(claims, answer, memory, tied=True)
    return event, (yield from tied(memory, event.proof.checkpoint))


def as_proven(receipt: results.Receipt, event: ProvenEvent) -> results.ProvenReceipt:
    seen = event.proof.checkpoint
    names = tuple(cosignature.witness for cosignature in seen.cosignatures)
    return results.ProvenReceipt(receipt, event.entry, event.proof.index, seen.size, names)


def receipt_with_proof(receipt_id: str) -> Call[dict[str, Any] | None]:
    """{"receipt_id", "jws", "claims", "entry", "proof"}; None where the log does not have the entry yet."""

    def read(answer: Answer) -> dict[str, Any] | None:
        return answer.json() if answer.status == 200 else None

    return Call("GET", f"/receipts/{_part(receipt_id)}", read, params={"proof": "1"})


def receipt(receipt_id: str) -> Call[str]:
    return Call("GET", f"/receipts/{_part(receipt_id)}", _jws)


def proven_receipt(receipt_id: str, jws: str, known: proofs.Keys) -> results.Receipt:
    """The receipt that was asked for, by its own signed word."""
    return results.Receipt(receipt_id, jws, proofs.verify_receipt(jws, known, {"receipt_id": receipt_id}))


class Waiting:
    """How `wait_for_decision` goes on asking: one long poll after another, past restarts, until the time is up.

    `timeout` is in seconds, not negative; infinity waits for ever.
    """

    def __init__(self, timeout: float, clock: Callable[[], float]) -> None:
        if not timeout >= 0:  # so that NaN, which no comparison is true of, is refused too
            raise Refused(f"{timeout:g} is no time to wait: give seconds, 0 or more")
        self._timeout, self._clock = timeout, clock
        self._deadline = clock() + timeout
        self._started = clock()

    def seconds(self) -> int:
        """How long the next answer may be held."""
        self._started = self._clock()
        return int(max(0.0, min(LONGEST_WAIT, self._deadline - self._started)))  # infinity is no int

    def pause_after(self, outcome: results.Status | BridgeError) -> float | None:
        """None: `outcome` is the decision. Else seconds to let pass; raises where waiting on would be no use."""
        pause = _POLL_PAUSE
        if isinstance(outcome, results.Status):
            if outcome.status != results.PENDING:
                return None
        elif isinstance(outcome, Problem) and (outcome.code == "slow_down" or outcome.status in TRANSIENT):
            pause = outcome.retry_after or _POLL_PAUSE
        elif not isinstance(outcome, Unreachable):
            raise outcome
        now = self._clock()
        if now >= self._deadline:
            if isinstance(outcome, Unreachable):
                raise outcome
            raise WaitTimeout(f"no decision within {self._timeout:g} seconds")
        if now - self._started >= _POLL_PAUSE and isinstance(outcome, results.Status):
            return 0.0  # the server held the answer
        return max(0.0, min(pause, self._deadline - now))


def bearer(token: str) -> str:
    """The header of a developer token."""
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise Refused("the developer token is empty or holds a character that no token has")
    return f"Bearer {token}"


def _status(answer: Answer) -> results.Status:
    return results.build(results.Status, answer.json())


def _jws(answer: Answer) -> str:
    jws = answer.json().get("jws")
    if not isinstance(jws, str):
        raise BadAnswer("the answer has no jws")
    return jws


def _text(answer: Answer) -> str:
    try:
        return answer.body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadAnswer("the answer is no text") from error


def _part(name: str) -> str:
    """A name as a part of an address."""
    return quote(_unicode(name), safe="")


def _unicode(text: str) -> str:
    """Refused where it has half of a surrogate pair, which no address can hold."""
    if _SURROGATE.search(text):
        raise Refused("a name or a search is not UTF-8: it holds a lone surrogate")
    return text


def _query(**values: object) -> dict[str, str]:
    return {name: _unicode(str(value)) for name, value in values.items() if value is not None}
