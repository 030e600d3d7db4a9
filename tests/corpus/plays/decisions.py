"""The owner's JSON addresses about requests, grants and their history."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from consent_bridge import sealed
from tests import factories
from tests.consent.decisions import approval_body, refreshed, resumption
from tests.corpus.plays.owners import refusals
from tests.corpus.stage import Caller, Stage

OUTDATED, CHAIN = "/consent/grants/outdated", "/consent/history/chain"
CUISINE, DRINK = "lifestyle.food.favorite_cuisine", "lifestyle.food.coffee_or_tea"


def play(stage: Stage) -> None:
    vault = factories.give_vault(factories.PersonFactory())
    owner = Caller.signed_in("owner", vault.user)
    app = factories.AppFactory()
    stage.call("nothing yet", owner, "GET", CHAIN + "?after=0")
    _data(stage, app, owner, vault)
    _decisions(stage, app, owner, vault)
    _restricted(stage, app, owner, vault)
    _moves(stage, app, owner, vault)
    _refreshes(stage, app, owner, vault)
    _history(stage, app, owner)


def _request(app: Any, vault: Any, **fields: Any) -> Any:
    return factories.ConsentRequestFactory(app=app, user=vault.user, **fields)


def _at(request: Any, what: str = "decision") -> str:
    return f"/consent/requests/{request.request_id}/{what}"


def _data(stage: Stage, app: Any, owner: Caller, vault: Any) -> None:
    asked = _request(
        app, vault, max_reads=3, binding_message="A1B2", required_attributes=[CUISINE], optional_attributes=[DRINK]
    )
    stage.call("what was asked", owner, "GET", _at(asked, "data"))
    refusals(stage, owner, "GET", _at(asked, "data"))
    stage.call("unknown", owner, "GET", "/consent/requests/req_unknown/data")
    others = factories.ConsentRequestFactory()
    stage.call("another person's", owner, "GET", _at(others, "data"))
    for status in ("denied", "cancelled", "expired"):
        stage.call(status, owner, "GET", _at(_request(app, vault, status=status), "data"))
    approved = factories.GrantFactory(request__app=app, request__user=vault.user, status="revoked").request
    stage.call("approved once", owner, "GET", _at(approved, "data"))


def _decisions(stage: Stage, app: Any, owner: Caller, vault: Any) -> None:
    asked = _request(app, vault, max_reads=2, connector_key_id="key-2")
    at, good = _at(asked), approval_body(asked, vault)
    refusals(stage, owner, "POST", at, good)
    short = {**good, "request_digest": "x" * 43}
    for what, body in {
        "another decision": {"decision": "maybe"},
        "no decision": {},
        "a digest of something else": short,
        "a digest that is none": {**good, "request_digest": "x"},
        "nothing approved": {**good, "approved_attributes": []},
        "an attribute outside": {**good, "approved_attributes": ["identity.basic.full_name"]},
        "a duration over what was asked": {**good, "access_duration": asked.access_duration + 1},
        "a duration that is none": {**good, "access_duration": 299},
        "a source that there is not": {**good, "sources": [{**good["sources"][0], "content_revision": 9}]},
        "no sources": {**good, "sources": []},
        "not sealed": {**good, "jwe": "a.b.c.d.e"},
        "a reason that is too long": {"decision": "deny", "reason": "x" * 501},
    }.items():
        stage.call(what, owner, "POST", at, body)
    elsewhere = {"iss": "https://other.example", "request_digest": "A" * 43, "scope": "attr.lifestyle.fitness.*"}
    for member in ("kid", "iss", "sub", "aud", "request_id", "scope", "request_digest"):
        other = approval_body(asked, vault, header={member: elsewhere.get(member, "other")})
        stage.call(f"sealed for another {member}", owner, "POST", at, other)
    stage.call("another revision", owner, "POST", at, approval_body(asked, vault, header={"revision": 2}))
    stage.call("approved", owner, "POST", at, good)
    stage.call("approved twice", owner, "POST", at, good)
    stage.call("denied afterwards", owner, "POST", at, {"decision": "deny"})
    needed = _request(app, vault, required_attributes=[CUISINE], optional_attributes=[DRINK])
    stage.call("without what is needed", owner, "POST", _at(needed), approval_body(needed, vault, [DRINK]))
    stage.call("in place of the other", owner, "POST", _at(needed), approval_body(needed, vault, [CUISINE]))
    denied = _request(app, vault, connector_key_id="key-3")
    stage.call("denied", owner, "POST", _at(denied), {"decision": "deny", "reason": "Not now"})
    stage.call("denied twice", owner, "POST", _at(denied), {"decision": "deny"})
    stage.call("approved afterwards", owner, "POST", _at(denied), approval_body(denied, vault))
    late = _request(app, vault, created_at=timezone.now().replace(microsecond=0) - timedelta(days=2))
    stage.call("too late", owner, "POST", _at(late), approval_body(late, vault))
    stage.call("unknown", owner, "POST", "/consent/requests/req_unknown/decision", {"decision": "deny"})
    stage.call("another person's", owner, "POST", _at(factories.ConsentRequestFactory()), {"decision": "deny"})


def _restricted(stage: Stage, app: Any, owner: Caller, vault: Any) -> None:
    """Data of the highest tier leaves only soon after a sign-in."""
    entry = factories.ScopeEntryFactory._meta.model.objects.filter(sensitivity_tier="restricted").order_by("pk").first()
    asked = _request(app, vault, scope=entry.scope)
    late = Caller.signed_in("owner, an hour after signing in", vault.user, seconds_ago=3600)
    body = approval_body(asked, vault, [asked.attributes[0]])
    stage.call("restricted, signed in long ago", late, "POST", _at(asked), body)
    stage.call("restricted, not kept", owner, "POST", _at(asked), body)
    stage.call("restricted, denied", late, "POST", _at(asked), {"decision": "deny"})


def _moves(stage: Stage, app: Any, owner: Caller, vault: Any) -> None:
    grant = factories.ExportFactory(grant__request__app=factories.AppFactory(), grant__request__user=vault.user).grant
    at = f"/consent/grants/{grant.grant_id}"
    for move in ("pause", "resume", "revoke"):
        refusals(stage, owner, "POST", f"{at}/{move}", {})
        stage.call("unknown", owner, "POST", f"/consent/grants/grt_unknown/{move}", {})
        others = factories.GrantFactory().grant_id
        stage.call("another person's", owner, "POST", f"/consent/grants/{others}/{move}", {})
    for step, move in enumerate(("resume", "pause", "pause", "resume", "revoke", "revoke", "pause", "resume")):
        nonce = stage.call(f"what step {step} names", owner, "GET", f"{at}/nonce").json()["nonce"]
        signed = resumption(vault, grant, nonce) if move == "resume" else {}
        stage.call(f"step {step}", owner, "POST", f"{at}/{move}", signed)


def _refreshes(stage: Stage, app: Any, owner: Caller, vault: Any) -> None:
    """A copy that is kept up to date, once what it was made from has changed."""
    grant = factories.ExportFactory(
        grant__request__app=app,
        grant__request__user=vault.user,
        grant__request__scope="attr.lifestyle.*",
        grant__request__refresh_policy="continuous",
        grant__approved_attributes=[CUISINE, DRINK],
    ).grant
    at = f"/consent/grants/{grant.grant_id}/export"
    stage.call("up to date", owner, "GET", OUTDATED)
    vault.write("lifestyle", "food", {"favorite_cuisine": "Lao", "coffee_or_tea": "Tea"}, base=1)
    stage.call("outdated", owner, "GET", OUTDATED)
    refusals(stage, owner, "GET", OUTDATED)
    body = refreshed_body(grant, vault)
    refusals(stage, owner, "PUT", at, body)
    stage.call("a revision too far", owner, "PUT", at, refreshed_body(grant, vault, revision=9))
    stage.call("from an old revision", owner, "PUT", at, refreshed_body(grant, vault, source=1))
    stage.call("no sources", owner, "PUT", at, {**body, "sources": []})
    stage.call("not sealed", owner, "PUT", at, {**body, "jwe": "a.b.c.d.e"})
    stage.call("unknown", owner, "PUT", "/consent/grants/grt_unknown/export", body)
    signed = refreshed(vault, grant)
    stage.call("signed by nobody", owner, "PUT", at, body)
    stage.call("refreshed", owner, "PUT", at, signed)
    stage.call("refreshed twice", owner, "PUT", at, signed)
    snapshot = factories.ExportFactory(grant__request__app=factories.AppFactory(), grant__request__user=vault.user)
    path = f"/consent/grants/{snapshot.grant.grant_id}/export"
    stage.call("a copy that stays as it is", owner, "PUT", path, refreshed_body(snapshot.grant, vault))


def refreshed_body(grant: Any, vault: Any, *, revision: int = 2, source: int = 2) -> dict[str, Any]:
    """The next revision of an export, as the person's browser seals it."""
    request = grant.request
    sources = [{"domain": "lifestyle", "segment_id": "food", "content_revision": source}]
    content = sealed.ExportContent(
        scope=request.scope,
        approved_attributes=tuple(grant.approved_attributes),
        data=sealed.pick(vault.segments, grant.approved_attributes),
        sources=tuple(sealed.Source(**one) for one in sources),
        sealed_at="2040-01-02T03:04:05Z",
    )
    header = sealed.ExportHeader(
        kid=request.connector_key_id,
        iss=settings.ISSUER,
        sub=vault.user.public_id,
        aud=request.app.app_id,
        request_id=request.request_id,
        scope=request.scope,
        revision=revision,
        request_digest=request.request_digest,
    )
    jwe = sealed.seal_export(content, request.connector_public_key, header)
    return {"revision": revision, "sources": sources, "jwe": jwe}


def _history(stage: Stage, app: Any, owner: Caller) -> None:
    stage.call("the whole chain", owner, "GET", CHAIN)
    stage.call("the rest of the chain", owner, "GET", CHAIN + "?after=2")
    refusals(stage, owner, "GET", CHAIN)
    for after in ("-1", "x", "01", "1&after=2"):
        stage.call("does not fit", owner, "GET", f"{CHAIN}?after={after}")
    # in the app's copy, what the person's decisions left behind
    reader = Caller.with_token("app", factories.TokenFactory(app=app).secret)
    for receipt in factories.ReceiptFactory._meta.model.objects.filter(request__app=app).order_by("pk"):
        stage.call("the app's copy of a receipt", reader, "GET", f"/api/v1/receipts/{receipt.receipt_id}")
    stage.call("before the log has it", reader, "GET", f"/api/v1/receipts/{receipt.receipt_id}?proof=1")
    events = {"Last-Event-ID": "0"}
    stage.call("what the app was told", reader, "GET", "/api/v1/consent-events", headers=events, chunks=3)
