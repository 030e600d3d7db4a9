"""What an app is told of a connection: nothing of who it is before it has completed it."""

from datetime import datetime

from accounts.models import User
from accounts.sharing_id import is_sharing_id, served_by
from common.clock import database_now
from common.identifiers import is_identifier
from consent.connections.models import Connection
from consent.errors import UnknownConnection, UnknownUser
from consent.requests.creation import created_body
from consent.shapes import Connection as ConnectionShape
from consent.shapes import ConnectionNotice
from consent.states import ConnectionStatus
from developers.people import AppPerson


def for_app(*, app_pk: int, connection_id: str) -> ConnectionShape:
    """Where a connection of this app stands. Raises `UnknownConnection`."""
    found = Connection.objects.select_related("app", "request__scope_entry")
    connection = found.filter(app=app_pk, connection_id=readable(connection_id)).first()
    if connection is None:
        raise UnknownConnection
    return body(connection, database_now())


def readable(name: str) -> str:
    """What could not be one of our names is unknown, and never reaches the database."""
    return name if is_identifier(name) else ""


def person_of_app(*, app_pk: int, user_id: str) -> User:
    """Whom the app calls so now, or who gave it this sharing ID. Raises `UnknownUser`."""
    met, known = AppPerson.objects.select_related("user").filter(app=app_pk, ended_at=None), readable(user_id)
    if is_sharing_id(known):
        found = met.filter(user__in=served_by(known, app_pk=app_pk).values("user")).first()
    else:
        found = met.filter(pairwise_id=known).first()
    if found is None:
        raise UnknownUser
    user: User = found.user
    return user


def body(connection: Connection, now: datetime) -> ConnectionShape:
    """The same, of one that was read with its app and request."""
    status = connection.reported_status(now)
    notice = notice_body(connection, None)
    if status is not ConnectionStatus.CONNECTED:
        return {**notice, "status": status, "request_id": None, "refusal": None, "request": None}
    met = AppPerson.objects.filter(app=connection.app_id, user=connection.user_id, ended_at=None)
    request = connection.request
    created = None
    if request is not None:
        label = request.scope_entry.scope_label
        created = created_body(request, app_id=connection.app.app_id, label=label, at=now)
    user_id = met.values_list("pairwise_id", flat=True).first()
    return {**notice, "status": status, "user_id": user_id, "request": created}


def notice_body(connection: Connection, user_id: str | None) -> ConnectionNotice:
    """As its notice tells it; the caller says what the app may know."""
    return {
        "connection_id": connection.connection_id,
        "status": ConnectionStatus(connection.status),
        "user_id": user_id,
        "request_id": connection.request.request_id if connection.request else None,
        "refusal": connection.refusal or None,
        "sequence": connection.sequence,
    }
