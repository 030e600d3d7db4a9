"""What an app should be answered when it looks, asks or reads: the model's other half."""

from datetime import timedelta
from typing import Any

from consent_bridge import sealed
from tests.lifecycle.model import World
from tests.lifecycle.records import DEFAULTS, Answer, Facts, Request, overlap, refusal, wire

MOST_PENDING, MOST_MISSES, MOST_A_DAY = 3, 4, 6
COOLDOWN, HOUR, DAY = timedelta(seconds=3600), timedelta(hours=1), timedelta(days=1)
REPEATS, READ_REPEATS = 24 * 3600, 600  # seconds
_NEVER_THE_SAME = ("requested_expiry", "connector_public_key", "connector_key_id")  # of two equal questions


def discover(world: World, app: str, user_id: str) -> Answer:
    refused = _unmet(world, app, user_id)
    if refused:
        return refused
    world.discoveries[app] = world.discoveries.get(app, 0) + 1
    entries = world.discoverable()
    return Answer(
        200,
        {
            "user_id": user_id,
            "available_domains": list(dict.fromkeys(entry["domain"] for entry in entries)),
            "scopes": [entry["scope"] for entry in entries],
            "scope_entries": entries,
            "runtime": {
                "can_approve": True,
                "wrapping_algorithms": ["ECDH-ES+A256KW"],
                "connector_curves": ["X25519", "P-256"],
                "refresh_policies": ["snapshot", "continuous"],
                "access_duration": {"default": 86400, "min": 300, "max": 31536000},
                "interval": 5,
            },
        },
    )


def _unmet(world: World, app: str, user_id: str) -> Answer | None:
    """Whom the app has asked before it may always name; anybody else only while it has not guessed too often."""
    if user_id == world.names[app]:
        return None if any(world.of_app(app)) else _guessing(world, app)
    return _guessing(world, app) or _miss(world, app)


def _guessing(world: World, app: str) -> Answer | None:
    return refusal(429, "too_many_requests") if misses_counted(world, app) > MOST_MISSES else None


def misses_counted(world: World, app: str) -> int:
    """Those of the window that began with its first miss and is not over."""
    began, counted = world.now - HOUR, 0
    for miss in world.misses.get(app, []):
        if not counted or miss >= began + HOUR:
            began, counted = miss, 0
        counted += 1
    return counted if world.now < began + HOUR else 0


def _miss(world: World, app: str) -> Answer:
    world.misses.setdefault(app, []).append(world.now)
    return _guessing(world, app) or refusal(404, "unknown_user")


def ask(world: World, app: str, body: Facts, key: str | None) -> Answer:
    """Contract 1.3."""
    refused = _unmet(world, app, body["user_id"])
    if refused:
        return refused
    terms = {**DEFAULTS, **body}
    repeated = world.repeated(app, "request-consent", key, terms)
    if repeated:
        return repeated
    answer = _find_or_make(world, app, terms)
    if not answer.refuses:
        world.keep(app, "request-consent", key, terms, answer, REPEATS)
    return answer


def _find_or_make(world: World, app: str, terms: Facts) -> Answer:
    entry = next((entry for entry in world.discoverable() if entry["scope"] == terms["scope"]), None)
    if entry is None or app in world.blocked:
        return refusal(400, "invalid_scope")
    if _misfits(terms, entry["attributes"]):
        return refusal(400, "invalid_request")
    overdue = None
    for standing in world.of_app(app):
        if standing.written == "pending" and _slot(standing.terms) == _slot(terms):
            if standing.status(world.now) == "pending":
                return _same_or_refuse(world, standing, terms)
            overdue = standing
    refused = _limited(world, app, terms["scope"])
    if refused:
        return refused
    if overdue is not None:
        world.close(overdue, "expired", "system")
    return _make(world, app, terms, entry)


def _misfits(terms: Facts, attributes: list[str]) -> bool:
    required, optional = terms["required_attributes"], terms["optional_attributes"]
    named = {*(required or ()), *(optional or ())}
    asks_for_nothing = not named and (required is not None or optional is not None)
    return not named <= set(attributes) or bool({*(required or ())} & {*(optional or ())}) or asks_for_nothing


def _slot(terms: Facts) -> tuple[str, str]:
    """Only one request may wait in each."""
    return terms["scope"], sealed.thumbprint(terms["connector_public_key"])


def _same_or_refuse(world: World, standing: Request, terms: Facts) -> Answer:
    compared = [
        {name: value for name, value in t.items() if name not in _NEVER_THE_SAME} for t in (standing.terms, terms)
    ]
    if compared[0] != compared[1]:
        return refusal(409, "request_pending", request_id=standing.request_id)
    return Answer(200, _body_of(world, standing))


def _limited(world: World, app: str, scope: str) -> Answer | None:
    if sum(request.status(world.now) == "pending" for request in world.of_app(app)) >= MOST_PENDING:
        return refusal(429, "too_many_requests")
    denied = [request for request in world.of_app(app) if request.written == "denied" and overlap(request.scope, scope)]
    recent = [request for request in denied if request.decided_at and world.now - request.decided_at < COOLDOWN]
    if recent:
        return refusal(429, "recently_denied")
    today = [request for request in world.of_app(app) if request.created_at > world.now - DAY]
    return refusal(429, "request_budget_spent") if len(today) >= MOST_A_DAY else None


def _make(world: World, app: str, terms: Facts, entry: Facts) -> Answer:
    request = Request(app, world.names[app], terms, attributes=entry["attributes"], created_at=world.now)
    world.requests.append(request)
    return Answer(201, _body_of(world, request))


def _body_of(world: World, request: Request) -> Facts:
    return {
        "request_id": request.request_id,
        "status": "pending",
        "app_id": request.app,
        "issuer": world.issuer,
        "user_id": request.user_id,
        "scope": request.scope,
        "scope_label": next(entry["label"] for entry in world.catalog if entry["scope"] == request.scope),
        "approval_url": Url(f"{world.issuer}/consent/requests/", request),
        "interval": 5,
        "expires_in": int((request.expires_at - world.now).total_seconds()),
        "expires_at": wire(request.expires_at),
        "access_duration": request.terms["access_duration"],
        "connector_key_id": request.terms["connector_key_id"],
        "connector_fingerprint": sealed.thumbprint(request.terms["connector_public_key"]),
        "request": Frozen(world, request),
        "request_digest": Digest(world, request),
        "created_at": wire(request.created_at),
    }


class Url:
    """The address of a request whose name is not known yet."""

    def __init__(self, base: str, request: Request) -> None:
        self.base, self.request = base, request

    def __eq__(self, other: object) -> bool:
        return other == f"{self.base}{self.request.request_id}/"

    __hash__ = None  # type: ignore[assignment]


class Frozen:
    """The members of the digest, once the request's name is known."""

    def __init__(self, world: World, request: Request) -> None:
        self.world, self.request = world, request

    def __eq__(self, other: object) -> bool:
        return other == frozen_of(self.world, self.request)

    __hash__ = None  # type: ignore[assignment]


class Digest:
    """What a request's digest has to be once its name is known, by the bridge's own code."""

    def __init__(self, world: World, request: Request) -> None:
        self.world, self.request = world, request

    def __eq__(self, other: object) -> bool:
        return other == digest_of(self.world, self.request)

    __hash__ = None  # type: ignore[assignment]


def digest_of(world: World, request: Request) -> str:
    return sealed.request_digest(frozen_of(world, request))


def frozen_of(world: World, request: Request) -> Facts:
    terms = request.terms
    frozen = ("scope", "purpose", "access_duration", "required_attributes", "optional_attributes", "max_reads")
    members: dict[str, Any] = {name: terms[name] for name in (*frozen, "refresh_policy", "binding_message")}
    return {
        **members,
        "request_id": request.request_id.value,
        "app_id": request.app,
        "app_name": world.app_names[request.app],
        "user_id": request.user_id,
        "attributes": request.attributes,
        "connector_thumbprint": sealed.thumbprint(terms["connector_public_key"]),
        "expires_at": wire(request.expires_at),
    }


def read(world: World, request: Request, *, jose: bool, tag: str | None, key: str | None) -> Answer:
    """Contract 1.5: liveness first, then the tag, then the key; every other 200 is a read."""
    refused = _unreadable(world, request)
    if refused:
        return refused
    grant = request.grant
    assert grant is not None
    export = grant.exports[-1]
    if tag is not None and tag in ("*", f'"{export.export_id.value}-{"jose" if jose else "json"}"'):
        return Answer(304)
    about = (request.request_id.value, export.revision)
    repeated = world.repeated(request.app, "consent-export", key, about)
    if repeated and repeated.refuses:
        return repeated
    if not repeated:
        grant.reads += 1
        world.unchained.append(request)
        world.keep(request.app, "consent-export", key, about, Answer(200), READ_REPEATS)
    answer = Answer(200, export.jwe if jose else _export_body(request))
    if grant.reads == grant.max_reads:
        world.end_grant(request, "exhausted", "system")
    return answer


def _unreadable(world: World, request: Request) -> Answer | None:
    match request.status(world.now):
        case "pending":
            return refusal(409, "authorization_pending")
        case "denied":
            return refusal(403, "access_denied")
        case "cancelled" | "expired" as status:
            return refusal(410, "grant_ended", request_status=status)
    grant = request.grant.status(world.now) if request.grant else ""
    if grant == "paused":
        return refusal(403, "grant_paused")
    return None if grant == "active" else refusal(410, "grant_ended", request_status="approved", grant_status=grant)


def _export_body(request: Request) -> Facts:
    """The body of contract 1.5 for the newest revision."""
    grant = request.grant
    assert grant is not None
    export = grant.exports[-1]
    return {
        "request_id": request.request_id,
        "grant_id": grant.grant_id,
        "export_id": export.export_id,
        "revision": export.revision,
        "user_id": request.user_id,
        "scope": request.scope,
        "approved_attributes": grant.approved,
        "connector_key_id": request.terms["connector_key_id"],
        "sealed_at": wire(export.sealed_at),
        "expires_at": wire(grant.expires_at),
        "reads_remaining": grant.reads_remaining,
        "size_bytes": len(export.jwe),
        "jwe": export.jwe,
        "approval": export.signed["approval"],
        "owner_key": export.signed["approval_key"],
        "key_history": [],
        "owner_key_reset": False,
    }
