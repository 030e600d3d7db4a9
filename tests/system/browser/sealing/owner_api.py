"""The owner's addresses as the contract has them, in memory, for one person; it remembers what it was sent."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.system.browser.sealing.chromium import Answer

NOW = "2026-11-20T10:00:00Z"


@dataclass
class OwnerApi:
    user_id: str
    key_id: str | None = None
    wrappers: list[dict[str, Any]] = field(default_factory=list)
    segments: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    request_data: dict[str, Any] = field(default_factory=dict)
    decisions: list[dict[str, Any]] = field(default_factory=list)
    seen: list[tuple[str, str]] = field(default_factory=list)
    unlocked: list[str] = field(default_factory=list)
    tokens: set[str | None] = field(default_factory=set)
    root: dict[str, Any] = field(default_factory=lambda: {"signing_public_key": None, "signing_jwe": None})
    notes: dict[str, Any] = field(default_factory=lambda: {"revision": 0, "jwe": None})
    hidden: set[str] = field(default_factory=set)
    rotation: str | None = None  # the key to come, of a change that is under way
    refuses: set[tuple[str, ...]] = field(default_factory=set)  # done at no such address: method and parts
    loses: set[tuple[str, ...]] = field(default_factory=set)  # done, and the answer is lost

    def __call__(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        self.seen.append((method, path))
        if method != "GET":
            self.tokens.add(headers.get("X-CSRFToken"))
        address = urlsplit(path)
        parts = address.path.strip("/").split("/")
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        status, answer = problem("temporarily_unavailable", 503)
        if (method, *parts) not in self.refuses:
            done = self.route(method, parts, query, json.loads(body or b"null"))
            status, answer = (status, answer) if (method, *parts) in self.loses else done
        kind = "application/json" if status < 400 else "application/problem+json"
        return status, {"Content-Type": kind}, b"" if status == 204 else json.dumps(answer).encode()

    def route(self, method: str, parts: list[str], query: dict[str, str], body: Any) -> tuple[int, Any]:
        match (method, *parts):
            case ("GET", "vault", "keys"):
                return 200, self.keys()
            case ("POST", "vault", "keys"):
                return self.create(body)
            case ("PUT", "vault", "signing-key"):
                self.root = {name: body[name] for name in self.root}
                return 200, self.keys()
            case ("GET", "vault", "notes"):
                return 200, {**self.notes, "hidden_scopes": sorted(self.hidden)}
            case ("PUT", "vault", "notes"):
                return self.keep_notes(body)
            case ("GET", "vault", "rotation"):
                return 200, {"key_id": self.rotation, "wrappers": [], "segments": []}
            case ("GET", "consent", "approval-keys"):
                return 200, {"keys": [], "issuer": "http://localhost:8000", "rotations": 0}
            case ("POST", "vault", "wrappers"):
                return 201, self.add(body)
            case ("POST", "vault", "unlocked"):
                self.unlocked.append(body["wrapper_id"])
                return 204, None
            case ("GET", "vault", "segments"):
                return 200, {"segments": self.listed(query)}
            case ("PUT", "vault", "segments", domain, segment):
                return self.put((domain, segment), body)
            case ("DELETE", "vault", "segments", domain, segment):
                return self.delete((domain, segment), int(query["base_content_revision"]), body)
            case ("PUT" | "DELETE", "vault", "hidden-scopes", scope):
                return self.hide(scope, body, hides=method == "PUT")
            case ("GET", "consent", "history", "chain"):
                return 200, {"head": {"chain": "", "sequence": 0, "entry_hash": ""}, "entries": []}
            case ("GET", "consent", "requests", _, "data"):
                return 200, self.request_data
            case ("POST", "consent", "requests", _, "decision"):
                return self.decide(body)
        return problem("not_found", 404)

    def keys(self) -> dict[str, Any]:
        primary = self.wrappers[0]["wrapper_id"] if self.wrappers else None
        status = "active" if self.wrappers else "absent"
        return {
            "user_id": self.user_id,
            "key_id": self.key_id,
            "vault_status": status,
            "primary_wrapper_id": primary,
            "wrappers": self.wrappers,
            **self.root,
        }

    def create(self, body: dict[str, Any]) -> tuple[int, Any]:
        if self.key_id:
            return problem("vault_exists", 409)
        self.key_id = body["key_id"]
        self.root = {name: body.get(name) for name in self.root}
        for wrapper in body["wrappers"]:
            self.add(wrapper)
        if "notes" in body:
            self.notes = {"revision": 1, "jwe": body["notes"]}
        return 201, self.keys()

    def add(self, wrapper: dict[str, Any]) -> dict[str, Any]:
        stored = {
            "credential_id": None,
            **wrapper,
            "wrapper_id": f"wrp_{len(self.wrappers)}",
            "created_at": NOW,
            "last_used_at": None,
        }
        self.wrappers.append(stored)
        return stored

    def listed(self, query: dict[str, str]) -> list[dict[str, Any]]:
        """By domain, or all; every scope of these tests covers whole domains."""
        domain = query.get("domain") or query.get("scope", "attr.").split(".")[1]
        return [segment for (kept, _), segment in sorted(self.segments.items()) if domain in ("", kept)]

    def put(self, key: tuple[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        if body["base_content_revision"] != self.counts.get(key, 0):
            return problem("stale_revision", 409, current_content_revision=self.counts.get(key, 0))
        status, answer = self.keep_notes(body["notes"])
        if status != 200:
            return status, answer
        self.counts[key] = self.counts.get(key, 0) + 1
        self.segments[key] = {
            "domain": key[0],
            "segment_id": key[1],
            "content_revision": self.counts[key],
            "manifest_revision": 1,
            "attributes": body["attributes"],
            "jwe": body["jwe"],
            "size_bytes": len(body["jwe"]),
            "updated_at": NOW,
        }
        return 200, {"content_revision": self.counts[key], "manifest_revision": 1}

    def delete(self, key: tuple[str, str], base: int, body: dict[str, Any]) -> tuple[int, Any]:
        if base != self.counts.get(key, 0):
            return problem("stale_revision", 409, current_content_revision=self.counts.get(key, 0))
        status, answer = self.keep_notes(body["notes"])
        if status != 200:
            return status, answer
        self.counts[key] += 1
        del self.segments[key]
        return 200, {"content_revision": self.counts[key], "manifest_revision": 2}

    def hide(self, scope: str, body: dict[str, Any], *, hides: bool) -> tuple[int, Any]:
        status, answer = self.keep_notes(body["notes"])
        if status != 200:
            return status, answer
        self.hidden = self.hidden | {scope} if hides else self.hidden - {scope}
        return 204, None

    def keep_notes(self, body: dict[str, Any]) -> tuple[int, Any]:
        if body["base_revision"] != self.notes["revision"]:
            return problem("stale_revision", 409, member="notes", current_revision=self.notes["revision"])
        self.notes = {"revision": body["base_revision"] + 1, "jwe": body["jwe"]}
        return 200, self.notes

    def decide(self, body: dict[str, Any]) -> tuple[int, Any]:
        self.decisions.append(body)
        for source in body.get("sources", []):
            if source["content_revision"] != self.counts[source["domain"], source["segment_id"]]:
                return problem("stale_revision", 409)
        if "notes" in body:
            status, answer = self.keep_notes(body["notes"])
            if status != 200:
                return status, answer
        return 200, {"status": "approved" if body["decision"] == "approve" else "denied"}


def problem(code: str, status: int, **more: Any) -> tuple[int, dict[str, Any]]:
    return status, {"code": code, "status": status, "title": code, "detail": f"about {code}", **more}
