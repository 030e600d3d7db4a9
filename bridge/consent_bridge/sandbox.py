"""People to play: somebody of a test app, whose vault key this process makes and holds, for tests without a browser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol
from urllib.parse import quote

from consent_bridge.answers import ConnectionAnswer, Processing, SandboxEntry
from consent_bridge.errors import BadAnswer, Problem, Refused
from consent_bridge.exports import ExportContent, origin_of
from consent_bridge.holder import VaultHolder
from consent_bridge.results import Status, build
from consent_bridge.review import Review
from consent_bridge.signatures import verified
from consent_bridge.signing import APPROVAL_TYP, new_root
from consent_bridge.synthetic import SYNTHETIC_PROFILE, Segments
from consent_bridge.transport import Answer
from consent_bridge.vault import Segment
from consent_bridge.vault_notes import Send
from consent_bridge.wrappers import VaultKey, generate_recovery_code, generate_vault_key, wrap

PATH = "/sandbox/people"
EVENTS = "/sandbox/events"


class Sender(Protocol):
    """How calls are sent with the app's token: a `Transport`, or the asynchronous client's way."""

    def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: object = None,
        repeatable: bool = False,
    ) -> Answer:
        """One answer below 400; only what is `repeatable` is tried again."""


class _SandboxAddresses:
    """The owner's addresses about one sandbox person, with the app's token in place of a session."""

    def __init__(self, sender: Sender, user_id: str) -> None:
        self._sender, self._before = sender, f"{PATH}/{quote(user_id, safe='')}"

    def get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        return self._sender.send("GET", self._before + path, params=params, repeatable=True).json()

    def send(self, method: str, path: str, body: object = None, params: Mapping[str, str] | None = None) -> Answer:
        return self._sender.send(method, self._before + path, params=params, body=body)


class SandboxPerson(VaultHolder):
    """A sandbox person of the app whose token the client holds. What they decide is decided at once.

    Whoever holds `vault_key` can play them again later: `Client.sandbox_person(user_id, vault_key)`. A `with` block
    deletes the person at its end.
    """

    _is_sandbox = True

    def __init__(self, sender: Sender, user_id: str, label: str = "", vault_key: VaultKey | None = None) -> None:
        super().__init__(_SandboxAddresses(sender, user_id))
        self._user_id, self.label, self._key = user_id, label, vault_key

    def __enter__(self) -> SandboxPerson:
        return self

    def __exit__(self, *_: object) -> None:
        self.delete_person()

    @property
    def user_id(self) -> str:
        """What the app calls them; of sandbox people alone it is their own ID."""
        return self._user_id

    @property
    def vault_key(self) -> VaultKey:
        """What opens all that they keep; KeyRefused where nobody gave it."""
        return self._unlocked()

    def make_vault(self) -> VaultKey:
        """Make their vault, once; its key is held from now on."""
        key = generate_vault_key()
        sealed = wrap(key, "recovery", generate_recovery_code(), self._user_id)  # a vault has at least one way in
        wrapper = {"kind": "recovery", "label": "Recovery code", "jwe": sealed}
        root, members = new_root(key.secret, key.key_id, self._user_id)
        self._addresses.send("POST", "/keys", {"key_id": key.key_id, "wrappers": [wrapper], **members})
        self._key, self._root = key, root
        return key

    def fill(self, segments: Segments = SYNTHETIC_PROFILE) -> None:
        """Keep these values, (domain, segment) → attribute → value; without any, a whole synthetic profile."""
        for place, values in segments.items():
            try:
                self.write(*place, values, base=0)
            except Problem as problem:
                if problem.code != "stale_revision":
                    raise
                self.update(*place, values)

    def approve(
        self, request_id: str, *, attributes: Iterable[str] | None = None, access_duration: int | None = None
    ) -> Status:
        """Approve: `attributes` of those asked for, or all that the vault has; for as long as asked, or less."""
        return self._approve(self.review(request_id), attributes, access_duration, despite_unvouched=False)

    def connect(self, connection_id: str) -> ConnectionAnswer:
        """Connect with the app; `request_id` is of what rode along, which they decide on before they go back."""
        return self._answer(connection_id, "connect")

    def decline(self, connection_id: str) -> ConnectionAnswer:
        return self._answer(connection_id, "decline")

    def _answer(self, connection_id: str, decision: str) -> ConnectionAnswer:
        body = {"connection_id": connection_id, "decision": decision}
        return build(ConnectionAnswer, self._addresses.send("POST", "/connections", body).json())

    def _given(self) -> None:
        """There are no notes to remember answers in."""

    def _send_remembered(
        self,
        review: Review,
        content: ExportContent,
        signed: Mapping[str, Any],
        method: str,
        path: str,
        body: Mapping[str, Any],
    ) -> Status:
        """A sandbox person's vault keeps no notes: it holds made-up values, and its app approves in its name."""
        return build(Status, self._addresses.send(method, path, dict(body)).json())

    def _segments_to_seal(self, review: Review) -> dict[tuple[str, str], Segment]:
        return self._segments_of(review)

    def _send_with_revision(self, place: str, revision: int, send: Send) -> Answer:
        """There are no notes to keep it in."""
        return send({})

    def _revoke_remembered(self, grant_id: str) -> Status:
        return self._grant(grant_id, "revoke")

    def _approved_terms(self, review: Review, grant_id: str, attributes: list[str], revision: int) -> tuple[int, int]:
        """What the vault signed, as the service tells it."""
        approval = self._addresses.get(f"/grants/{quote(grant_id, safe='')}/approval").get("approval")
        key = self._approval_root().app_key(origin_of(review.issuer), review.app_id).public
        claims = verified(str(approval), APPROVAL_TYP, key, "the approval")
        if claims["request_digest"] != review.request_digest:
            raise Refused("this person approved something else; nothing was sent", member="request_digest")
        return claims["access_duration"], claims["ends_at"]

    def expire(self, seconds: int) -> None:
        """Let so much time pass for them: what would end within it ends as `expired` now."""
        self._addresses.send("POST", "/clock", {"seconds": seconds})

    def delete_person(self) -> None:
        """End all that stands, destroy the vault, and forget them."""
        self._addresses.send("DELETE", "")
        self.lock()


def make_person(sender: Sender, label: str) -> SandboxPerson:
    """A new one, with a vault that is empty."""
    made = build(SandboxEntry, sender.send("POST", PATH, body={"label": label}).json())
    person = SandboxPerson(sender, made.user_id, made.label)
    person.make_vault()
    return person


def send_event(sender: Sender, event: str) -> Processing:
    """Have the test app told of an event of agents: the notice."""
    return build(Processing, sender.send("POST", EVENTS, body={"type": event}).json())


def list_people(sender: Sender) -> tuple[SandboxEntry, ...]:
    """All of the app's, the newest first."""
    people = sender.send("GET", PATH, repeatable=True).json().get("people")
    if not isinstance(people, list):
        raise BadAnswer("the answer has no people")
    return tuple(build(SandboxEntry, entry) for entry in people)
