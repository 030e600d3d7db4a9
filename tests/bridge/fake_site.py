"""The consent app's owner addresses as the contract has them, in memory: one person, one request."""

import json
from typing import Any

from consent_bridge.encoding import decode_base64url
from consent_bridge.sealed import generate_connector_key, public_half, request_digest, thumbprint
from tests.bridge.fake_service import Call, FakeService, Reply, problem
from tests.bridge.logs import Log
from tests.bridge.wire import APPROVED, FROZEN

PASSPHRASE = "correct horse battery staple"
FOOD = {"diet_preference": "vegetarian", "favorite_cuisine": "Thai-canary", "own_dish": "soup"}
LOGIN, PASSWORD = "zoe@example.org", "account password"
FIRST_TOKEN, SECOND_TOKEN = "csrf-before", "csrf-after"
LOGIN_PAGE = """<!doctype html><title>Sign in</title>
<form action="/lang"><input type="hidden" name="csrfmiddlewaretoken" value="of another form"></form>
<form method="post"><input type="hidden" name="csrfmiddlewaretoken" value="field-token">
<input type="hidden" name="next" value="/"><input name="login"><input type="password" name="password"></form>"""
STATUS = {**APPROVED, "grant": None}


class FakeSite:
    """What the server would keep: wrappers and sealed segments, and what it may check about them."""

    def __init__(self, service: FakeService) -> None:
        self.key = generate_connector_key()
        self.vault: dict[str, Any] = {"key_id": None, "wrappers": []}
        self.segments: dict[tuple[str, str], dict[str, Any]] = {}
        self.decisions: list[dict[str, Any]] = []
        self.exports: list[dict[str, Any]] = []
        self.notes: dict[str, Any] = {"revision": 0, "jwe": None}
        self.chain: list[dict[str, Any]] = []
        self.tier = "standard"
        self.vouching: dict[str, Any] = {"by": "nobody", "domain": None, "since": None}
        self.request = {
            **FROZEN,
            "app_name": "Table for Two",
            "user_id": "usr_as_app_a",
            "attributes": [
                f"lifestyle.food.{name}" for name in ("diet_preference", "favorite_cuisine", "coffee_or_tea")
            ],
            "connector_thumbprint": thumbprint(self.key),
        }
        self.log = Log()
        service.on("GET", "/log/*", self.of_log)
        service.on("GET", "/accounts/login/", self.login_page)
        service.on("POST", "/accounts/login/", self.log_in)
        service.on("GET", "/vault/keys", self.signed_in(self.keys))
        service.on("POST", "/vault/keys", self.signed_in(self.create))
        service.on("GET", "/vault/segments", self.signed_in(self.list_segments))
        for place in ("lifestyle/food", "lifestyle/fitness", "contact/email"):
            service.on("PUT", f"/vault/segments/{place}", self.signed_in(self.put))
            service.on("DELETE", f"/vault/segments/{place}", self.signed_in(self.delete))
        service.on("GET", "/consent/requests/req_a/data", self.signed_in(lambda _: Reply(self.review())))
        service.on("POST", "/consent/requests/req_a/decision", self.signed_in(self.decide))
        service.on("GET", "/consent/grants/grt_a/approval", self.signed_in(lambda _: Reply(self.approval())))
        service.on("PUT", "/consent/grants/grt_a/export", self.signed_in(self.put_export))
        service.on("GET", "/consent/grants/grt_a/nonce", self.signed_in(lambda _: Reply({"nonce": "nonce-a"})))
        service.on("GET", "/vault/notes", self.signed_in(lambda _: Reply(self.notes)))
        service.on(
            "PUT", "/vault/notes", self.signed_in(lambda call: self.keep_notes(call.json()) or Reply(self.notes))
        )
        service.on("GET", "/consent/history/chain", self.signed_in(self.history))
        for verb in ("revoke", "pause", "resume"):
            service.on("POST", f"/consent/grants/grt_a/{verb}", self.signed_in(lambda _: Reply(STATUS)))

    def of_log(self, call: Call) -> Reply:
        """The public log has the whole chain, and nothing else."""
        self.log.leaves = [decode_base64url(one["entry_hash"], "a hash") for one in self.chain]
        if call.path == "/log/key":
            return Reply(f"{self.log.key}\n")
        if call.path == "/log/checkpoint":
            return Reply(self.log.note())
        return Reply(self.log.proof(self.log.leaves.index(decode_base64url(call.path[11:], "a hash"))))

    def login_page(self, _: Call) -> Reply:
        return Reply(LOGIN_PAGE, headers=(("Set-Cookie", f"csrftoken={FIRST_TOKEN}; Path=/"),))

    def log_in(self, call: Call) -> Reply:
        form = call.form()
        if form.pop("csrfmiddlewaretoken", "") != "field-token" or FIRST_TOKEN not in call.headers.get("cookie", ""):
            return Reply("CSRF", 403)
        if form != {"next": "/", "login": LOGIN, "password": PASSWORD}:
            return Reply(LOGIN_PAGE)
        cookies = (f"csrftoken={SECOND_TOKEN}; Path=/", "sessionid=session-a; Path=/; HttpOnly")
        return Reply(b"", 302, (("Location", "/"), *(("Set-Cookie", cookie) for cookie in cookies)))

    def signed_in(self, inner):
        def outer(call: Call) -> Reply:
            if "sessionid=session-a" not in call.headers.get("cookie", ""):
                return problem("not_signed_in", 401)
            if call.method != "GET" and call.headers.get("x-csrftoken") != SECOND_TOKEN:
                return problem("csrf_failed", 403)
            return inner(call)

        return outer

    def keys(self, _: Call) -> Reply:
        made = self.vault["key_id"] is not None
        return Reply(
            {
                "user_id": "usr_a",
                "key_id": self.vault["key_id"],
                "vault_status": "active" if made else "absent",
                "primary_wrapper_id": "wrp_0" if made else None,
                "wrappers": [
                    {
                        **wrapper,
                        "wrapper_id": f"wrp_{index}",
                        "credential_id": None,
                        "created_at": "2026-11-20T10:00:00Z",
                        "last_used_at": None,
                    }
                    for index, wrapper in enumerate(self.vault["wrappers"])
                ],
                "signing_public_key": self.vault.get("signing_public_key"),
                "signing_jwe": self.vault.get("signing_jwe"),
            }
        )

    def create(self, call: Call) -> Reply:
        if self.vault["key_id"] is not None:
            return problem("vault_exists", 409)
        self.vault = call.json()
        if "notes" in self.vault:
            self.notes = {"revision": 1, "jwe": self.vault.pop("notes")}
        return Reply({}, 201)

    def list_segments(self, call: Call) -> Reply:
        wanted = call.query.get("domain") or call.query.get("scope", ".").split(".")[1]
        rows = [row for (domain, _), row in self.segments.items() if wanted in ("", domain) and row["jwe"] is not None]
        return Reply({"segments": rows})

    def put(self, call: Call) -> Reply:
        domain, segment_id = call.path.split("/")[3:5]
        body = call.json()
        current = self.segments.get((domain, segment_id), {}).get("content_revision", 0)
        if body["base_content_revision"] != current:
            return problem("stale_revision", 409, current_content_revision=current)
        if "notes" in body and (refused := self.keep_notes(body["notes"])):
            return refused
        header = json.loads(decode_base64url(body["jwe"].split(".")[0], "header"))
        place = {name: header[name] for name in ("domain", "segment_id", "content_revision")}
        if place != {"domain": domain, "segment_id": segment_id, "content_revision": current + 1}:
            return problem("segment_mismatch", 400)
        self.segments[domain, segment_id] = {
            **place,
            "manifest_revision": 1,
            "attributes": body["attributes"],
            "jwe": body["jwe"],
            "size_bytes": len(body["jwe"]),
            "updated_at": "2026-11-20T10:00:00Z",
        }
        return Reply({name: value for name, value in self.segments[domain, segment_id].items() if name != "jwe"})

    def delete(self, call: Call) -> Reply:
        domain, segment_id = call.path.split("/")[3:5]
        row = self.segments[domain, segment_id]
        if int(call.query["base_content_revision"]) != row["content_revision"]:
            return problem("stale_revision", 409, current_content_revision=row["content_revision"])
        if call.body and (refused := self.keep_notes(call.json()["notes"])):
            return refused
        row |= {"content_revision": row["content_revision"] + 1, "jwe": None}
        return Reply(b"", 204)

    def review(self) -> dict[str, Any]:
        return {
            "request": self.request,
            "request_digest": request_digest(self.request),
            "status": "pending",
            "connector_public_key": public_half(self.key),
            "connector_key_id": "connector-1",
            "app": {
                "app_id": "app_a",
                "name": "Table for Two",
                "legal_name": "Table for Two Ltd",
                "verified": True,
                "website": "https://table.example",
                "privacy_policy": None,
            },
            "scope_entry": {"sensitivity_tier": self.tier},
            "issuer": "https://consent.example/app/",
            "export_revision": 1,
            "known_connector_key": False,
            "vouching": self.vouching,
        }

    def approval(self) -> dict[str, Any]:
        approval = self.decisions[-1]["approval"] if self.decisions else None
        return {"request_id": "req_a", "approval": approval, "access_duration": 86400, "ends_at": 1795774930}

    def put_export(self, call: Call) -> Reply:
        return self.keep_notes(call.json().get("notes")) or self.taken(self.exports, call)

    def decide(self, call: Call) -> Reply:
        return self.keep_notes(call.json().get("notes")) or self.taken(self.decisions, call)

    def taken(self, of: list[dict[str, Any]], call: Call) -> Reply:
        of.append(call.json())
        return Reply(STATUS)

    def keep_notes(self, body: dict[str, Any] | None) -> Reply | None:
        """A refusal, or None once they are kept."""
        if body is None:
            return None
        if body["base_revision"] != self.notes["revision"]:
            return problem("stale_revision", 409, member="notes", current_revision=self.notes["revision"])
        self.notes = {"revision": body["base_revision"] + 1, "jwe": body["jwe"]}
        return None

    def history(self, call: Call) -> Reply:
        last = self.chain[-1] if self.chain else {"chain": "", "sequence": 0, "entry_hash": ""}
        head = {name: last[name] for name in ("chain", "sequence", "entry_hash")}
        return Reply({"head": head, "entries": self.chain[int(call.query["after"]) :][:500]})
