"""What the person does about requests and grants, and what apps read and end."""

from typing import Any

from hypothesis import strategies as st

from tests.lifecycle import expected_answers
from tests.lifecycle.checks import check_claims, check_slice, verified
from tests.lifecycle.machine import Acting, act, granted, has_requests, ordinals
from tests.lifecycle.records import Answer, Facts, Request, refusal, same
from tests.lifecycle.transport import get

somebody = st.sampled_from([False] * 7 + [True])  # whether somebody else tries
flaws = st.sampled_from([""] * 9 + ["digest", "stale", "revision", "aud", "kid"])
stale_or_aud = st.sampled_from(["", "", "", "stale", "aud"])
verbs = st.sampled_from(["pause", "resume", "pause", "resume", "revoke"])
tags = st.sampled_from(["", "", "", "", "own", "*", '"exp_x-json"'])
OUTSIDE = "interests.leisure.travel_frequency"


def has_receipts(machine: Acting) -> bool:
    return any(request.receipts for request in machine.world.requests)


class Deciding(Acting):
    """The person's own addresses."""

    @act(8, has_requests, number=ordinals, mask=st.integers(0, 15), flaw=flaws, stranger=somebody,
         duration=st.sampled_from([None] * 6 + [300, 299, 10**9]))  # fmt: skip
    def approve(self, number: int, mask: int, duration: int | None, flaw: str, stranger: bool) -> None:
        request = self.choose(number, pending=True)
        assert request is not None
        approved = self._narrowed(request, mask)
        sources = self.stage.sources(approved)
        wrong: Facts = {"revision": 2} if flaw == "revision" else {flaw: "app_x"} if flaw in ("aud", "kid") else {}
        export = self.stage.seal_export(request, approved, sources=sources, **{"revision": 1, **wrong})
        body = {
            "decision": "approve",
            "request_digest": expected_answers.digest_of(self.world, request)[:: -1 if flaw == "digest" else 1],
            "access_duration": duration or request.terms["access_duration"],
            "approved_attributes": approved,
            "sources": _stale(sources) if flaw == "stale" else sources,
            "jwe": export.jwe,
        }
        body |= self.stage.sign(request, export, approved, body["access_duration"], None)
        wanted = refusal(404, "unknown_request") if stranger else self.world.approve(request, body, export, flaw=flaw)
        self._decide(request, body, wanted, stranger)

    def _narrowed(self, request: Request, mask: int) -> list[str]:
        """Some of what the request names and the person has; seldom something else, or nothing."""
        kept = self.world.paths()
        named = [path for path in [*request.attributes, *sorted(kept)] if request.names(path, kept)]
        named = [path for path in dict.fromkeys(named) if path in kept or mask == 7]
        required = request.terms["required_attributes"] or []
        chosen = [path for place, path in enumerate(named) if path in required or not (mask >> place) & 1]
        return [*chosen, OUTSIDE] if mask == 13 else chosen[1:] if mask == 11 else chosen

    @act(1, has_requests, number=ordinals, reason=st.sampled_from([None, "Not now"]), stranger=somebody)
    def deny(self, number: int, reason: str | None, stranger: bool) -> None:
        request = self.choose(number, pending=True)
        assert request is not None
        body = {"decision": "deny", **({"reason": reason} if reason else {})}
        wanted = refusal(404, "unknown_request") if stranger else self.world.deny(request)
        self._decide(request, body, wanted, stranger)

    def _decide(self, request: Request, body: Facts, wanted: Answer, stranger: bool) -> None:
        caller = self.stage.strange_session if stranger else self.stage.session
        self.agree(wanted, self.act("POST", f"/consent/requests/{request.request_id}/decision", body, caller=caller))

    @act(5, granted, number=ordinals, verb=verbs, stranger=somebody)
    def move(self, number: int, verb: str, stranger: bool) -> None:
        request = self.choose(number, granted=True)
        assert request is not None
        assert request.grant is not None
        wanted = refusal(404, "unknown_grant") if stranger else getattr(self.world, verb)(request)
        caller = self.stage.strange_session if stranger else self.stage.session
        grant_id = str(request.grant.grant_id)
        body = self.stage.sign_resumption(request, grant_id) if verb == "resume" and not stranger else {}
        self.agree(wanted, self.act("POST", f"/consent/grants/{grant_id}/{verb}", body, caller=caller))

    @act(3, granted, number=ordinals, flaw=stale_or_aud, skip=st.sampled_from([0, 0, 0, 1, -1]))
    def refresh(self, number: int, flaw: str, skip: int) -> None:
        """A newer revision; of a continuous grant it is taken, if it is the very next."""
        request = self.choose(number, granted=True)
        assert request is not None
        assert request.grant is not None
        sources = self.stage.sources(request.grant.approved)
        revision = request.grant.exports[-1].revision + 1 + skip
        if not sources or revision < 2:
            return
        wrong = {"aud": "app_x"} if flaw == "aud" else {}
        export = self.stage.seal_export(request, request.grant.approved, revision=revision, sources=sources, **wrong)
        body = {"revision": revision, "sources": _stale(sources) if flaw == "stale" else sources, "jwe": export.jwe}
        grant = request.grant
        duration = int((grant.expires_at - grant.starts_at).total_seconds())
        body |= self.stage.sign(request, export, grant.approved, duration, int(grant.expires_at.timestamp()))
        wanted = self.world.refresh(request, export, flaw=flaw)
        self.agree(wanted, self.act("PUT", f"/consent/grants/{request.grant.grant_id}/export", body))

    @act(1, has_requests, number=ordinals, stranger=somebody)
    def look(self, number: int, stranger: bool) -> None:
        """What the browser is given to decide by."""
        request = self.choose(number)
        assert request is not None
        caller = self.stage.strange_session if stranger else self.stage.session
        found = get(self.transport, caller, f"/consent/requests/{request.request_id}/data")
        if stranger:
            self.agree(refusal(404, "unknown_request"), found)
            return
        data = found.json()
        received = (data["status"], data["request_digest"], data["connector_public_key"])
        digest = expected_answers.digest_of(self.world, request)
        same((request.status(self.world.now), digest, request.terms["connector_public_key"]), received)


class Reading(Acting):
    """What apps do with what they asked for."""

    tags: dict[str, str]

    def __init__(self) -> None:
        super().__init__()
        self.tags = {}

    @act(
        6,
        has_requests,
        number=ordinals,
        jose=st.booleans(),
        tag=tags,
        idempotency=st.sampled_from([None] * 4 + [*"AB"]),
    )
    def read(self, number: int, jose: bool, tag: str, idempotency: str | None) -> None:
        request = self.choose(number, granted=number % 5 > 1 and granted(self))
        assert request is not None
        known = self.tags.get(str(request.request_id)) if tag == "own" else tag or None
        headers = {"Accept": "application/jose, application/json;q=0.5" if jose else "application/json"}
        headers |= {"If-None-Match": f'W/"other", {known}'} if known else {}
        headers |= {"Idempotency-Key": idempotency} if idempotency else {}
        wanted = expected_answers.read(self.world, request, jose=jose, tag=known, key=idempotency)
        found = self.call(request.app, "GET", "/consent-export", headers=headers, request_id=request.request_id)
        self.agree(wanted, found)
        if wanted.refuses or request.grant is None:
            return
        self.tags[str(request.request_id)] = found.headers["ETag"]
        assert request.grant.exports[-1].export_id == found.headers["ETag"].strip('"').split("-")[0]
        if wanted.status == 200:
            assert found.headers["Content-Type"] == ("application/jose" if jose else "application/json")
            check_slice(self.stage, request, found.body.decode() if jose else found.json()["jwe"])

    @act(2, has_requests, number=ordinals, other=somebody)
    def end(self, number: int, other: bool) -> None:
        request = self.choose(number)
        assert request is not None
        wanted = refusal(404, "unknown_request") if other else self.world.end(request)
        app = self._other_app(request) if other else request.app
        self.agree(wanted, self.call(app, "POST", "/end-consent", {"request_id": str(request.request_id)}))

    @act(1, has_requests, number=ordinals, other=somebody, newest=st.booleans())
    def status(self, number: int, other: bool, newest: bool) -> None:
        request = self.choose(number)
        assert request is not None
        app = self._other_app(request) if other else request.app
        query: dict[str, Any] = {"request_id": request.request_id}
        if newest:
            query = {"user_id": self.world.names[app], "scope": request.scope}
        mine = [one for one in self.world.of_app(app) if (one.scope == request.scope if newest else one is request)]
        wanted = self.world.status_of(mine[-1]) if mine else refusal(404, "unknown_request")
        self.agree(wanted, self.call(app, "GET", "/consent-status", **query))

    @act(1, app=st.integers(0, 1), limit=st.integers(1, 4),
         status=st.sampled_from([None, "pending", "approved", "denied", "cancelled", "expired"]))  # fmt: skip
    def list(self, app: int, limit: int, status: str | None) -> None:
        """Page by page, newest first."""
        app_id, now, found = self.app_id(app), self.world.now, []
        cursor: str | None = None
        while True:
            page = self.call(app_id, "GET", "/consent-requests", limit=limit, status=status, cursor=cursor).json()
            assert len(page["requests"]) <= limit
            found += page["requests"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        bodies = [request.body(now) for request in self.world.of_app(app_id)]
        same([body for body in bodies[::-1] if status in (None, body["status"])], found)

    @act(1, has_receipts, app=st.integers(0, 1), back=st.integers(0, 12))
    def follow(self, app: int, back: int) -> None:
        """The stream, resumed some events ago, tells each of them once and in order."""
        notices = self.world.notices.get(self.app_id(app), [])
        after = max(0, len(notices) - 1 - back)
        wanted = [(number, facts) for number, (_, facts) in enumerate(notices, start=1)][after:]
        if not wanted:
            return
        caller = self.stage.callers[self.app_id(app)]
        with self.transport.lines(caller, "/api/v1/consent-events", {"Last-Event-ID": str(after)}) as lines:
            same(wanted, [next_event(lines) for _ in wanted])

    @act(1, has_receipts, number=ordinals, jose=st.booleans(), other=somebody)
    def receipt(self, number: int, jose: bool, other: bool) -> None:
        found = [request for request in self.world.requests if request.receipts]
        request = found[number % len(found)]
        event, receipt_id = request.receipts[number % len(request.receipts)]
        app = self._other_app(request) if other else request.app
        headers = {"Accept": "application/jose" if jose else "*/*"}
        found = self.call(app, "GET", f"/receipts/{receipt_id}", headers=headers)
        if other:
            self.agree(refusal(404, "unknown_receipt"), found)
            return
        claims = verified(found.body.decode() if jose else found.json()["jws"])
        if not jose:
            same(claims, found.json()["claims"])
        check_claims(claims, request, event, str(receipt_id))

    def _other_app(self, request: Request) -> str:
        return next(app.app_id for app in self.stage.apps if app.app_id != request.app)


def _stale(sources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**source, "content_revision": source["content_revision"] + 1} for source in sources]


def next_event(lines: Any) -> tuple[int, Any]:
    """(sequence, data) of the next event of a stream."""
    import orjson

    number = 0
    for line in lines:
        if line.startswith(b"id: "):
            number = int(line[4:])
        elif line.startswith(b"data: "):
            return number, orjson.loads(line[6:])
    raise AssertionError("the stream ended")
