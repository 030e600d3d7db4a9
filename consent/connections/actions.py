"""What an app and a person do with a connection."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, QuerySet

from accounts.models import User
from common.batches import one_by_one
from common.clock import database_now
from common.identifiers import is_identifier, new_identifier, secret_digest
from common.limits import Count, Limit, count, peek
from common.problems import Problem, TooManyRequests
from common.sql.statements import lock_for_transaction
from consent.connections import queries
from consent.connections.models import Connection
from consent.discovery.person_read import PersonRead, read_person
from consent.errors import (
    ConnectionEnded,
    InvalidConnectionCode,
    InvalidScope,
    RequestPending,
    UnknownConnection,
    UnknownUser,
)
from consent.event_types import CONNECTED, DECLINED, EventType
from consent.grants.actions import end_grant
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.protection import append_or_defer, own_entry
from consent.notices.outbox import NewNotice, notify_apps, notify_of_connection
from consent.requests.actions import close_request
from consent.requests.creation import check_riding_request, request_with_connection, resolve_connector_key
from consent.requests.draft import ConnectorKey
from consent.requests.models import ConsentRequest
from consent.requests.named_keys import key_of_nobody
from consent.requests.return_addresses import require_registered, with_members
from consent.schemas import ConnectionBody, RequestConsentBody, RidingRequestBody
from consent.states import LIVE_GRANTS, Actor, ConnectionStatus, GrantStatus, RequestStatus
from developers.apps.models import App, AppStatus
from developers.authentication import AppContext
from developers.oauth.resources import REST
from developers.people import AppPerson, end_pairwise_id, pairwise_id_for
from developers.permissions import require_permission
from pkm.notes import write_notes
from pkm.signatures import sha256
from pkm.web.schemas import NotesBody

LIFETIME, LIFETIME_OPENED = timedelta(seconds=600), timedelta(seconds=3600)
COMPLETED_WITHIN = timedelta(minutes=10)
_LETTERS = "34679CDFGHJKMNPQRTWXY"  # none looks like another, and they make no words
_CODE_LENGTH = 8
_BEGUN = Limit("connections", 600, 3600)
_WRONG_CODES = Limit("connection-codes", 10, 3600)


def begin(*, app: AppContext, body: ConnectionBody) -> tuple[Connection, str, Count]:
    """A connection that waits to be opened, the code that a person may type, and the app's limit.

    Raises `UnknownUser` for a personal app, `TooManyRequests`, `InvalidReturnUrl`, and for a request that rides along
    what asking raises of itself alone.
    """
    if app.is_personal:
        raise UnknownUser("A personal assistant knows its own person alone, who connected it already.")
    found = count(_BEGUN, str(app.app_pk))
    found.require(TooManyRequests)
    require_registered(body.return_url, app_pk=app.app_pk)
    riding = None
    if body.request is not None:
        require_permission(app, frozenset({"request"}), path=REST)
        riding = _kept(app, body.request, check_riding_request(app=app, body=body.request))
    code, now = "".join(secrets.choice(_LETTERS) for _ in range(_CODE_LENGTH)), database_now().replace(microsecond=0)
    made = Connection.objects.create(
        connection_id=new_identifier("con"),
        app_id=app.app_pk,
        code_digest=secret_digest(code),
        binding_message=body.binding_message or "",
        return_url=body.return_url or "",
        asked=riding,
        created_at=now,
        expires_at=now + LIFETIME,
    )
    return made, code, found


def begun(*, app_pk: int) -> Count:
    """Where the app's limit stands, without counting."""
    return peek(_BEGUN, str(app_pk))


def _kept(app: AppContext, body: RidingRequestBody, key: ConnectorKey) -> dict[str, Any]:
    """What rides along until somebody connects, when nobody knows any more whether a host began it.

    A host's key is left out, to be looked up then, since its app may have removed it; that of nobody is named by hosts
    alone, and stays.
    """
    kept: dict[str, Any] = body.model_dump(exclude_unset=True)
    if app.is_host:
        kept["connector_public_key"] = key.jwk if key.jwk == key_of_nobody(app.app_id) else None
    return kept


def open_by_link(connection_id: str) -> Connection:
    """The connection that this link is of, which waits longer from now on: whoever follows it may have to sign up.

    One without a return address has no link. Raises `UnknownConnection`.
    """
    found = Connection.objects.select_related("app__application").filter(
        connection_id=connection_id if is_identifier(connection_id) else ""
    )
    connection = found.exclude(return_url="").first()
    if connection is None:
        raise UnknownConnection
    return _opened(connection)


def open_by_code(code: str, *, by: User) -> Connection:
    """The connection whose code this person typed; ten wrong ones an hour.

    Raises `UnknownConnection`, `TooManyRequests`.
    """
    typed = "".join(code.upper().replace("-", " ").split())
    with transaction.atomic():
        lock_for_transaction(f"connection-code:{by.pk}")  # or codes sent at once would all be tried before one counts
        tried = peek(_WRONG_CODES, by.public_id)
        if tried.remaining <= 0:
            raise TooManyRequests(headers=tried.retry_after, limits=[tried])
        found = Connection.objects.open(database_now()).select_related("app__application")
        connection = found.filter(code_digest=secret_digest(typed)).first()
        if connection is None:
            count(_WRONG_CODES, by.public_id)
    if connection is None:
        raise UnknownConnection
    return _opened(connection)


def _opened(connection: Connection) -> Connection:
    now = database_now()
    still_open = Connection.objects.open(now).filter(pk=connection.pk)
    still_open.filter(expires_at__lt=F("created_at") + LIFETIME_OPENED).update(
        expires_at=F("created_at") + LIFETIME_OPENED
    )
    connection.refresh_from_db(fields=["expires_at", "status"])
    return connection


@contextmanager
def _answering(connection: Connection, by: User, to: ConnectionStatus) -> Iterator[datetime]:
    """Around an answer, which only one person gives. Raises `ConnectionEnded`."""
    with transaction.atomic():
        lock_for_transaction(f"ask:{connection.app_id}:{by.pk}")  # as asking does, before any row
        now = database_now()
        answer = {"status": to, "answered_at": now, "asked": None}
        if to is ConnectionStatus.CONNECTED:
            answer |= {"user": by, "complete_by": now + COMPLETED_WITHIN}
        if not Connection.objects.open(now).filter(pk=connection.pk).update(**answer):
            raise ConnectionEnded
        yield now


def connect(*, connection: Connection, by: User) -> Connection:
    """This person lets the app know them; what rides along is asked now, or `refusal` says why not.

    Raises `ConnectionEnded`; `UnknownUser` where the app does not reach them, as a test app its members alone;
    `InvalidScope` where they blocked it; `AuditUnavailable`.
    """
    app, riding = _context(connection.app), None
    if connection.asked is not None:
        riding = _riding(connection, app, RidingRequestBody.model_validate(connection.asked))
    with _answering(connection, by, ConnectionStatus.CONNECTED) as now:
        was_known = AppPerson.objects.filter(app=app.app_pk, user=by, ended_at=None).exists()
        pairwise_id = pairwise_id_for(app_pk=app.app_pk, user_pk=by.pk, named="") or ""
        person = read_person(
            app_pk=app.app_pk, is_test=app.is_test, is_personal=app.is_personal, name=pairwise_id, hint=""
        )
        if person is None or person.user_pk is None or app.suspended:
            raise UnknownUser
        if person.has_blocked:
            raise InvalidScope
        connection.refresh_from_db()
        if riding is not None:
            _request_with_connection(connection, app, riding, person, by)
        audit.append(**own_entry(by, EventType.APP_CONNECTED, {"app_id": app.app_id}))
        if not connection.return_url:
            connection.completed_at = now
            connection.sequence = _notify(connection, CONNECTED.type, pairwise_id, now)
        elif not was_known:  # its name for them names nobody before it has completed this
            end_pairwise_id(app_pk=app.app_pk, user_pk=by.pk, at=now)
        connection.save()
    return connection


class _Riding(NamedTuple):
    """What rides along, and the key that it is sealed to, or why there is none."""

    body: RequestConsentBody
    key: ConnectorKey | Problem


def _riding(connection: Connection, app: AppContext, request: RidingRequestBody) -> _Riding:
    """Before the transaction, in which nothing waits for the app's site."""
    terms = {name: getattr(request, name) for name in RequestConsentBody.model_fields}
    given = {
        "user_id": "",
        "invitation_sha256": sha256(connection.connection_id),
        "return_url": connection.return_url or None,
    }
    body = RequestConsentBody.model_construct(**(terms | given))
    try:
        return _Riding(body, resolve_connector_key(app, body))
    except Problem as refused:
        if refused.status >= 500:
            raise
        return _Riding(body, refused)


def _request_with_connection(
    connection: Connection, app: AppContext, riding: _Riding, person: PersonRead, by: User
) -> None:
    body, withheld = riding.body.model_copy(update={"user_id": person.pairwise_id}), bool(connection.return_url)
    try:
        if isinstance(riding.key, Problem):
            raise riding.key
        if withheld and _live(connection, by, body.scope, database_now()).exists():
            raise RequestPending()  # to replace it would tell the app who connected, before they came back to it
        made = request_with_connection(
            app=app, body=body, key=riding.key, person=person, user_pk=by.pk, withheld=withheld
        )
    except Problem as refused:
        if refused.status >= 500:
            raise
        connection.refusal = refused.code
        return
    connection.request = made
    connection.complete_by = made.expires_at + COMPLETED_WITHIN


def is_known_already(connection: Connection, person: User) -> bool:
    """Whether what rides along is refused, since the app has an approval or a request of this scope, and nothing of it
    may change before the app has completed the connection."""
    if not (connection.asked and connection.return_url):
        return False
    now, scope, key_id = database_now(), connection.asked["scope"], connection.asked["connector_key_id"]
    waiting = ConsentRequest.objects.pending(now).filter(app=connection.app, user=person, withheld=False)
    waiting = waiting.filter(scope=scope, connector_key_id=key_id)
    return _live(connection, person, scope, now).exists() or waiting.exists()


def _live(connection: Connection, person: User, scope: str, now: datetime) -> QuerySet[Grant]:
    """What the app knows that it can read of this scope."""
    return Grant.objects.live(now).known().filter(app=connection.app, user=person, scope=scope)


def _context(app: App) -> AppContext:
    """The app as asking takes it; no token of it called."""
    return AppContext(
        app_pk=app.pk,
        app_id=app.app_id,
        app_name=app.name,
        token_pk=0,
        permissions=frozenset(),
        suspended=app.status != AppStatus.ACTIVE,
        verified=app.verified,
        header_only=True,
        is_test=app.is_test,
        request_budget=app.request_budget,
        is_personal=app.is_personal,
    )


def decline(*, connection: Connection, by: User) -> None:
    """The app learns that somebody declined, and not who. Raises `ConnectionEnded`."""
    with _answering(connection, by, ConnectionStatus.DECLINED) as now:
        connection.refresh_from_db()
        sequence = _notify(connection, DECLINED.type, None, now)
        Connection.objects.filter(pk=connection.pk).update(sequence=sequence)


def _notify(connection: Connection, kind: str, user_id: str | None, at: datetime) -> int:
    body = queries.notice_body(connection, user_id)
    return notify_of_connection(app_pk=connection.app_id, kind=kind, body=body, at=at)


@transaction.atomic
def return_to(*, connection: Connection) -> str:
    """Where the person goes now, with a one-time code that completes the connection: the one before it ends.

    Without a code where the connection was completed already, or declined.
    """
    members = {"connection_id": connection.connection_id}
    uncompleted = Connection.objects.filter(pk=connection.pk, status=ConnectionStatus.CONNECTED, completed_at=None)
    code = new_identifier("cc")
    if uncompleted.update(return_digest=secret_digest(code)):
        members["connection_code"] = code
    return with_members(connection.return_url, **members, status=connection.status)


def uncompleted(*, app_pk: int, user: User) -> QuerySet[Connection]:
    """What this person connected and the app has not completed."""
    return Connection.objects.filter(app=app_pk, user=user, status=ConnectionStatus.CONNECTED, completed_at=None)


def await_completion(request: ConsentRequest, *, at: datetime) -> None:
    """The person approved what rode along: from now on the app has so long to complete the connection."""
    Connection.objects.filter(request=request, completed_at=None).update(complete_by=at + COMPLETED_WITHIN)


@transaction.atomic
def complete(*, app_pk: int, connection_id: str, code: str) -> Connection:
    """The app shows the code of the return: from now on it is told of the connection, and of what rode along.

    Repeated, the same. Raises `UnknownConnection`, `InvalidConnectionCode`.
    """
    found = Connection.objects.filter(app=app_pk, connection_id=connection_id)
    user_pk = found.values_list("user", flat=True).first()
    if user_pk is not None:
        lock_for_transaction(f"ask:{app_pk}:{user_pk}")  # as what ends it does
    _lock_requests(found)
    connection = found.select_for_update(of=("self",)).first()
    if connection is None:
        raise UnknownConnection
    now = database_now()
    if not connection.return_digest or not secrets.compare_digest(connection.return_digest, secret_digest(code)):
        raise InvalidConnectionCode()
    if connection.completed_at is not None:
        return connection
    if user_pk is None or connection.reported_status(now) is not ConnectionStatus.PENDING:
        raise InvalidConnectionCode()
    connection.completed_at = now
    user_id = pairwise_id_for(app_pk=app_pk, user_pk=user_pk, named="")
    connection.sequence = _notify(connection, CONNECTED.type, user_id, now)
    connection.save(update_fields=["completed_at", "sequence"])
    if connection.request_id is not None:
        _release(connection.request_id, now)
    return connection


def _lock_requests(found: QuerySet[Connection]) -> None:
    """What rode along, before the connections themselves: an approval takes the two in this order."""
    list(ConsentRequest.objects.select_for_update().filter(connection__in=found).values_list("pk"))


def _release(request_pk: int, at: datetime) -> None:
    """The app may know of the request, and is told what became of it meanwhile."""
    request = ConsentRequest.objects.get(pk=request_pk)
    ConsentRequest.objects.filter(pk=request_pk).update(withheld=False)
    status = request.status_at(at)
    if status is not RequestStatus.PENDING and request.status == status:
        kind = EventType(status.value).webhook_type
        notify_apps([NewNotice(request.app_id, request.pk, request.request_id)], kind=kind, at=at)


@transaction.atomic
def disconnect(*, app_pk: int, user: User, actor: Actor, notes: NotesBody | None = None) -> bool:
    """The app's name for this person names nobody until they meet anew; what it reads and waits for ends.

    `actor` is the app, whose grants end as `released`, or the person, whose end as `revoked`: `notes` are then their
    vault's own, without those approvals. False where there was nothing between the two.
    """
    lock_for_transaction(f"ask:{app_pk}:{user.pk}")
    now = database_now()
    was_known = end_pairwise_id(app_pk=app_pk, user_pk=user.pk, at=now)
    if not was_known and not uncompleted(app_pk=app_pk, user=user).exists():
        return False
    pending = ConsentRequest.objects.filter(app=app_pk, user=user, status=RequestStatus.PENDING).order_by("pk")
    live = Grant.objects.filter(app=app_pk, user=user, status__in=LIVE_GRANTS).order_by("pk")
    # all of them before the first is written down: requests and grants are locked before any head
    requests = list(pending.select_for_update().values_list("pk", flat=True))
    grants = list(live.select_for_update().values_list("pk", flat=True))
    if grants and notes is not None:
        write_notes(by=user, **notes.model_dump())
    for request_pk in requests:
        close_request(request_pk=request_pk, to=RequestStatus.CANCELLED, actor=actor, at=now)
    to = GrantStatus.RELEASED if actor is Actor.APP else GrantStatus.REVOKED
    for grant_pk in grants:
        end_grant(grant_pk=grant_pk, to=to, actor=actor, at=now)
    Connection.objects.filter(app=app_pk, user=user).delete()
    app_id = App.objects.values_list("app_id", flat=True).get(pk=app_pk)
    entry = {**own_entry(user, EventType.APP_DISCONNECTED, {"app_id": app_id}), "actor": actor.value}
    append_or_defer(**entry, about=app_id)
    return True


def end_overdue() -> int:
    """Write down which connections the clock ended, and end what was given by those that no app completed."""
    now = database_now()
    overdue = list(Connection.objects.overdue(now).order_by("pk").values_list("pk", flat=True)[:200])
    return one_by_one(overdue, lambda pk: _end(pk, now), what="the ends of connections", most_seconds=6.0)


@transaction.atomic
def _end(pk: int, at: datetime) -> bool:
    overdue = Connection.objects.overdue(at).filter(pk=pk)
    _lock_requests(overdue)
    connection = overdue.select_for_update(of=("self",)).first()
    if connection is None:
        return False
    if connection.request_id is not None:
        close_request(request_pk=connection.request_id, to=RequestStatus.CANCELLED, actor=Actor.SYSTEM, at=at)
        live = Grant.objects.live(at).filter(request=connection.request_id)
        for grant_pk in list(live.select_for_update().values_list("pk", flat=True)):
            end_grant(grant_pk=grant_pk, to=GrantStatus.RELEASED, actor=Actor.SYSTEM, at=at)
    Connection.objects.filter(pk=pk).update(status=ConnectionStatus.EXPIRED, asked=None)
    return True
