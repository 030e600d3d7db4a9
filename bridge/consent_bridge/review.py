"""A request as its owner sees it, believed only after the digest and the key's thumbprint were recomputed here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from consent_bridge.errors import BadAnswer, Refused, shown
from consent_bridge.exports import request_digest, split_path
from consent_bridge.keys import Jwk, thumbprint
from consent_bridge.results import build

EVERYTHING = "pkm.read"


@dataclass(frozen=True)
class App:
    """Who asks."""

    app_id: str
    name: str
    legal_name: str | None
    verified: bool
    website: str | None
    privacy_policy: str | None


@dataclass(frozen=True)
class Vouching:
    """Who vouches for the connector key, as the service says: `published` under the app's proved `domain`, `registered`
    there (`since`), `sandbox` where nothing is real, or `nobody`. `entry` of the app's chain says that it was
    registered."""

    by: str
    domain: str | None
    since: str | None
    entry: dict[str, Any] | None = None


@dataclass(frozen=True)
class Review:
    """What is asked. `request` holds exactly the members of the digest; they are what the person decides about."""

    request: dict[str, Any]
    request_digest: str
    status: str
    connector_public_key: Jwk
    connector_key_id: str
    app: App
    issuer: str
    export_revision: int
    vouching: Vouching
    scope_entry: dict[str, Any]

    @property
    def request_id(self) -> str:
        return str(self.request["request_id"])

    @property
    def user_id(self) -> str:
        """Whose data."""
        return str(self.request["user_id"])

    @property
    def app_id(self) -> str:
        """Whom it goes to."""
        return str(self.request["app_id"])

    @property
    def scope(self) -> str:
        return str(self.request["scope"])

    @property
    def purpose(self) -> str:
        """The app's own words."""
        return str(self.request["purpose"])

    @property
    def access_duration(self) -> int:
        """How long reading is asked for, in seconds."""
        return int(self.request["access_duration"])

    @property
    def attributes(self) -> tuple[str, ...]:
        """The paths asked for: those named, or the scope's where none is named."""
        named = [*(self.request["required_attributes"] or ()), *(self.request["optional_attributes"] or ())]
        return tuple(dict.fromkeys(named or self.request["attributes"]))

    @property
    def sources(self) -> tuple[str, ...]:
        """The paths of the values that it is about: those asked for, and those behind the answers that are named."""
        made = (self.request.get("derived") or {}).values()
        return tuple(dict.fromkeys([*self.attributes, *(str(one["from"]) for one in made)]))

    @property
    def is_vouched_for(self) -> bool:
        """Whether somebody says that the key is the app's."""
        return self.vouching.by in ("published", "registered", "sandbox")

    @property
    def tier(self) -> str:
        """How sensitive what is asked for is: standard, confidential or restricted."""
        return str(self.scope_entry.get("sensitivity_tier", "restricted"))

    def check_vouched(self, *, despite: bool) -> None:
        """Refused where nobody vouches for the key: of restricted data, and of confidential unless `despite` that."""
        if self.is_vouched_for or self.tier == "standard" or (despite and self.tier == "confidential"):
            return
        message = "nobody vouches for the app's key, and this is restricted"
        if self.tier == "confidential":
            message = "nobody vouches for the app's key, and this is confidential; say that you share it all the same"
        raise Refused(message, member="connector_thumbprint")

    def require_requested(self, path: str) -> None:
        """Refused unless the path is one that was asked for; where none was named, one that the scope covers."""
        named = self.request["required_attributes"] or self.request["optional_attributes"]
        is_requested = path in self.attributes if named else covers(self.scope, path)
        if not is_requested and path not in accepted_answers(self.request):
            raise Refused(f"{shown(path)} was not asked for", member="approved_attributes")


def accepted_answers(request: Mapping[str, Any]) -> set[str]:
    """The answers that the app takes in place of what it asks for; Refused where one is made of another value."""
    derived, found = request.get("derived") or {}, set()
    for source, paths in (request.get("accepts") or {}).items():
        if any(derived.get(path, {}).get("from") != source for path in paths):
            raise Refused(f"not each accepted answer is made from {shown(source)}", member="accepts")
        found.update(paths)
    return found


def covers(scope: str, path: str) -> bool:
    """Whether an attribute lies in a scope; an unknown form of scope covers nothing."""
    split_path(path)
    if scope == EVERYTHING:
        return True
    kind, _, rest = scope.partition(".")
    if kind != "attr":
        return False
    return path.startswith(rest[:-1]) if rest.endswith(".*") else path == rest


def read_review(body: Mapping[str, Any], *, request_id: str, own_id: str, is_sandbox: bool = False) -> Review:
    """The review out of the server's answer; Refused, naming the member, where two things that must agree do not.

    No app calls the person by `own_id`, their vault's, but a test app those whom it plays.
    """
    review = build(Review, body)
    request = review.request
    _same("request_digest", request_digest(request), review.request_digest)
    _same("connector_thumbprint", thumbprint(review.connector_public_key), request["connector_thumbprint"])
    _same("request_id", request["request_id"], request_id)
    if is_sandbox:
        _same("user_id", request["user_id"], own_id)
    elif request["user_id"] == own_id:
        raise Refused("user_id is your own ID, which no app knows you by", member="user_id")
    _same("app_id", review.app.app_id, request["app_id"])
    _same("app_name", review.app.name, request["app_name"])
    _check_shapes(request)
    return review


def _same(member: str, found: object, expected: object) -> None:
    if found != expected:
        raise Refused(f"{member} does not fit the request: {shown(found)}, not {shown(expected)}", member=member)


def _check_shapes(request: Mapping[str, Any]) -> None:
    lists = {name: request[name] for name in ("attributes", "required_attributes", "optional_attributes")}
    for name, paths in lists.items():
        if paths is None and name != "attributes":
            continue
        if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
            raise BadAnswer(f"the request's {name} is not a list of paths")
    derived = request.get("derived", {})
    if not isinstance(derived, dict) or not all(
        path.count(".") == 2 and isinstance(made, dict) and isinstance(made.get("from"), str)
        for path, made in derived.items()
    ):
        raise BadAnswer("the request's derived is not by paths")
    duration = request["access_duration"]
    if not isinstance(duration, int) or isinstance(duration, bool):
        raise BadAnswer("the request's access_duration is not a whole number")
