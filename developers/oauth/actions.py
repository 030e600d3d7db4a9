"""What is done for hosts. Keyword-only, the person as `by=`; a host itself shows what it was given."""

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction

from accounts.models import User
from accounts.outbox import send_mail
from common.clock import database_now
from common.identifiers import secret_digest
from common.jose import base64url
from common.limits import Limit, count
from common.problems import InvalidRequest, TooManyRequests
from developers.apps.actions import close_app
from developers.apps.audit import record
from developers.apps.models import App, AppMode, AppStatus
from developers.oauth.clients import host_of
from developers.oauth.errors import InvalidGrant, InvalidTarget
from developers.oauth.models import OAuthClient, OAuthSecret, SecretKind
from developers.oauth.queries import live_hosts_of
from developers.oauth.redirects import destination_of
from developers.oauth.resources import SCOPES, the_resource
from developers.people import pairwise_id_for
from developers.tokens.actions import revoke_token
from developers.tokens.format import host_kind, new_token
from developers.tokens.models import DeveloperToken

CODE_LIVES = timedelta(seconds=60)
ACCESS_LIVES = timedelta(hours=1)
UNUSED_FOR = timedelta(days=30)  # after which a refresh token gives nothing, and what was allowed has ended
SIBLINGS_FOR = timedelta(seconds=30)  # hosts refresh in parallel
MOST_PERSONAL = 20
_PAIRS = Limit("token-pairs", 120, 3600)  # of one authorization, siblings included
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}\Z")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}\Z")
_KINDS = {SecretKind.CODE: "code", SecretKind.ACCESS: "oauth", SecretKind.REFRESH: "refresh"}


@dataclass(frozen=True)
class Tokens:
    """What a host is given: shown once, kept as digests."""

    access: str
    refresh: str
    expires_in: int
    permissions: list[str]


@dataclass(frozen=True)
class AuthorizationRequest:
    """What a host asked for in the browser, once it is known to be well formed."""

    client: OAuthClient
    redirect_uri: str
    code_challenge: str
    resource: str
    permissions: list[str]


def check_challenge(challenge: str, method: str) -> str:
    """`challenge`, where it is one of S256, which everybody has to bring. Raises `InvalidRequest`."""
    if method != "S256" or not _CHALLENGE.match(challenge):
        raise InvalidRequest("PKCE is needed: code_challenge of 43 characters with code_challenge_method=S256.")
    return challenge


@transaction.atomic
def allow_host(*, authorization: AuthorizationRequest, by: User, app: App | None, permissions: Iterable[str]) -> str:
    """Let the host act as `app`, or where that is None as a personal app of `by` alone; answers the code.

    They are written to. Raises `InvalidRequest` where they may not: the app is not theirs or not active, or they have
    too many hosts of their own already.
    """
    wanted = [name for name in SCOPES if name in set(permissions) & set(authorization.permissions)]
    if not wanted:
        raise InvalidRequest("Choose at least one permission.")
    User.objects.select_for_update(no_key=True).get(pk=by.pk)  # two at once make one app, and are counted
    acts_as = _own_app(authorization.client, by) if app is None else _active_app(app, by)
    _, prefix, unusable = new_token("oauth")
    row = DeveloperToken.objects.create(
        app=acts_as,
        prefix=prefix,
        digest=unusable,
        label=authorization.client.name,
        permissions=wanted,
        header_only=True,
        expires_at=database_now() + CODE_LIVES,  # until the code is redeemed
        created_by=by,
        client=authorization.client,
        resource=authorization.resource,
    )
    facts = {"prefix": prefix, "label": row.label, "permissions": wanted, "resource": authorization.resource}
    record(app=acts_as, by=by, action="host.allowed", **facts)
    shown = {
        "host": host_of(authorization.client),
        "goes_to": destination_of(authorization.redirect_uri),
        "is_personal": app is None,
    }
    send_mail("developers/mail/host_allowed", to=by, context={"token": row, "app": acts_as, **shown})
    return _new_secret(
        row,
        SecretKind.CODE,
        CODE_LIVES,
        redirect_uri=authorization.redirect_uri,
        code_challenge=authorization.code_challenge,
    )


def _active_app(app: App, by: User) -> App:
    of_member = App.objects.filter(pk=app.pk, status=AppStatus.ACTIVE, members__user=by)
    active = of_member.select_for_update(of=("self",), no_key=True).first()
    if active is None:
        raise InvalidRequest("Choose an active app that you are a member of.")
    return active


def _own_app(client: OAuthClient, by: User) -> App:
    own = App.objects.filter(mode=AppMode.PERSONAL, person=by).exclude(status=AppStatus.CLOSED)
    known = own.filter(tokens__client=client).order_by("pk").first()
    if known is not None:
        if known.status != AppStatus.ACTIVE:
            raise InvalidRequest("Staff have suspended this host.")
        return known
    if own.count() >= MOST_PERSONAL:
        raise InvalidRequest(f"Nobody connects more than {MOST_PERSONAL} hosts. Stop one that you do not use.")
    made = App.objects.create(mode=AppMode.PERSONAL, person=by, name=client.name)
    pairwise_id_for(app_pk=made.pk, user_pk=by.pk, named="")
    return made


def redeem_code(*, client_id: str, code: str, verifier: str, redirect_uri: str | None, resource: str | None) -> Tokens:
    """Tokens for a code. One that comes twice ends what the first time gave. Raises `InvalidGrant`, `InvalidTarget`."""
    with transaction.atomic():
        found = _valid(code, SecretKind.CODE, client_id)
        if found.used_at is None:
            return _redeemed(found, verifier, redirect_uri, resource)
        revoke_token(token=found.token, by=None)
    raise InvalidGrant("This code was used before, so that what it gave has ended. Authorize again.")


def _redeemed(found: OAuthSecret, verifier: str, redirect_uri: str | None, resource: str | None) -> Tokens:
    now = database_now()
    if found.expires_at <= now or redirect_uri not in (None, found.redirect_uri):
        raise InvalidGrant("The code has expired, or was sent to another address.")
    hashed = base64url(hashlib.sha256(verifier.encode()).digest())
    if not _VERIFIER.match(verifier) or not hmac.compare_digest(hashed, found.code_challenge):
        raise InvalidGrant("code_verifier does not fit the code_challenge of this code.")
    return _next_pair(found, resource)


def refresh_tokens(*, client_id: str, refresh: str, resource: str | None) -> Tokens:
    """The next pair, and once more within 30 seconds. Later, it is in other hands too: everything of it ends.

    Raises `InvalidGrant`, `InvalidTarget`, `TooManyRequests`.
    """
    with transaction.atomic():
        found = _valid(refresh, SecretKind.REFRESH, client_id)
        now = database_now()
        if found.expires_at <= now:
            raise InvalidGrant("The refresh token was not used for 30 days. Authorize again.")
        if found.used_at is None or now - found.used_at <= SIBLINGS_FOR:
            return _next_pair(found, resource)
        revoke_token(token=found.token, by=None)
    raise InvalidGrant("This refresh token was used before, so that everything of it has ended. Authorize again.")


def _valid(secret: str, kind: SecretKind, client_id: str) -> OAuthSecret:
    """The row of what this client was given, locked with what it leads to."""
    if host_kind(secret) != _KINDS[kind]:
        raise InvalidGrant()
    rows = OAuthSecret.objects.select_related("token__app", "token__created_by").filter(
        digest=secret_digest(secret), kind=kind
    )
    # the one row that all of a family share comes first, so that two of its tokens never wait for each other
    DeveloperToken.objects.select_for_update(no_key=True).filter(pk__in=rows.values("token")).first()
    found = rows.filter(token__client__client_id=client_id).first()
    if found is None or found.token.app.status == AppStatus.CLOSED or not found.token.created_by.is_active:
        raise InvalidGrant()
    if found.token.revoked_at is not None:
        raise InvalidGrant("Access was taken back. Authorize again.")
    return found


def _next_pair(found: OAuthSecret, resource: str | None) -> Tokens:
    row, now = found.token, database_now()
    if resource is not None and the_resource(resource) != row.resource:
        raise InvalidTarget("Tokens are for the resource that was authorized.")
    count(_PAIRS, str(row.pk)).require(TooManyRequests)  # a refused one uses up nothing, the refresh token neither
    if found.used_at is None:
        OAuthSecret.objects.filter(pk=found.pk).update(used_at=now)
    DeveloperToken.objects.filter(pk=row.pk).update(expires_at=now + UNUSED_FOR)
    return Tokens(
        access=_new_secret(row, SecretKind.ACCESS, ACCESS_LIVES),
        refresh=_new_secret(row, SecretKind.REFRESH, UNUSED_FOR),
        expires_in=int(ACCESS_LIVES.total_seconds()),
        permissions=list(row.permissions),
    )


def _new_secret(row: DeveloperToken, kind: SecretKind, lives: timedelta, **bound: str) -> str:
    secret, _, hashed = new_token(_KINDS[kind], row.prefix)
    OAuthSecret.objects.create(kind=kind, digest=hashed, token=row, expires_at=database_now() + lives, **bound)
    return secret


def revoke_by_host(*, client_id: str, secret: str) -> None:
    """End everything that came of the authorization of this access or refresh token; says nothing (RFC 7009)."""
    if host_kind(secret) not in ("oauth", "refresh"):
        return
    given = OAuthSecret.objects.filter(digest=secret_digest(secret), token__client__client_id=client_id)
    for found in given.select_related("token__app"):
        revoke_token(token=found.token, by=None)


@transaction.atomic
def stop_host(*, prefix: str, by: User) -> bool:
    """End what `by` allowed a host; False where that had ended. A personal app is closed with it."""
    found = live_hosts_of(by).filter(prefix=prefix).first()
    if found is None:
        return False
    if found.app.is_personal:
        return close_app(app=found.app, by=by)
    return revoke_token(token=found, by=by)


def stop_hosts_of(user: User, *, app: App | None = None, **_: object) -> None:
    """End all that they allowed, or what acts for this app: they took back what others may have of their access."""
    of_app = {} if app is None else {"app": app}
    for found in live_hosts_of(user).filter(**of_app):
        revoke_token(token=found, by=user)


def stop_hosts_of_member(*, instance: Any, **_: object) -> None:
    """End what this member allowed hosts to do for the app: nobody else of the team knows of it."""
    stop_hosts_of(instance.user, app=instance.app)


def forget_secrets() -> int:
    """Delete codes and tokens that open nothing any more, and that nobody could repeat; answers how many."""
    return OAuthSecret.objects.filter(expires_at__lt=database_now() - SIBLINGS_FOR).delete()[0]
