"""Making people to play, and ending them. What they decide are the owner's own actions."""

from django.db import transaction

from accounts.identifiers import new_user_id, sandbox_address
from accounts.models import User
from common.clock import database_now
from common.identifiers import new_identifier
from common.limits import Count, Limit, count, peek
from common.problems import TooManyRequests
from consent.connections import actions as connections
from consent.connections.models import Connection
from consent.errors import UnknownConnection
from consent.grants.actions import end_grant
from consent.grants.models import Grant
from consent.notices.outbox import notify_of_processing
from consent.requests.actions import close_request
from consent.requests.models import ConsentRequest
from consent.sandbox.errors import TestModeRequired, TooManySandboxPeople
from consent.sandbox.models import SandboxPerson
from consent.sandbox.schemas import SandboxConnection
from consent.states import LIVE_GRANTS, Actor, ConnectionStatus, GrantStatus, RequestStatus
from developers.app_events import Occurrence, ProcessingEvent, ProcessingNotice
from developers.apps.models import App
from developers.people import AppPerson
from pkm.segments.actions import destroy_vault

MOST_PEOPLE = 20  # of an app
_MADE = Limit("sandbox-people", 1000, 86_400, in_database=True)  # deleted ones too, whose accounts stay
_EVENTS = Limit("sandbox-events", 600, 3600)
_PREFIXES = {"analysis": "ana", "activation": "act", "deletion": "del"}  # of the IDs that family B gives


@transaction.atomic
def make_person(*, app_pk: int, label: str = "") -> SandboxPerson:
    """A person with an empty vault whom this test app alone reaches, and nobody signs in as.

    Raises `TestModeRequired`, `TooManySandboxPeople`, `TooManyRequests`.
    """
    app = App.objects.select_for_update(no_key=True).get(pk=app_pk)  # two at once are counted one after the other
    if not app.is_test:
        raise TestModeRequired()
    if SandboxPerson.objects.filter(app=app).count() >= MOST_PEOPLE:
        raise TooManySandboxPeople(f"A test app has at most {MOST_PEOPLE} sandbox people; delete one first.")
    detail = f"A test app makes at most {_MADE.allowed:,} people in 24 hours."
    count(_MADE, str(app_pk)).require(TooManyRequests, detail)
    user_id = new_user_id()
    user = User.objects.create_user(sandbox_address(user_id), public_id=user_id, display_name=label)
    AppPerson.objects.create(app=app, user=user, pairwise_id=user_id)
    return SandboxPerson.objects.create(app=app, user=user, label=label)


def admit_event(*, app_pk: int) -> Count:
    """Count one event, whether or not it fits. Raises `TooManyRequests`."""
    found = count(_EVENTS, str(app_pk))
    found.require(TooManyRequests, f"A test app is told of at most {_EVENTS.allowed} events an hour.")
    return found


def counted_events(*, app_pk: int) -> Count:
    """Where the app's limit stands, without counting."""
    return peek(_EVENTS, str(app_pk))


def made_people(*, app_pk: int) -> Count:
    """The same of the people whom it makes."""
    return peek(_MADE, str(app_pk))


@transaction.atomic
def record_processing(*, app_pk: int, event: ProcessingEvent) -> ProcessingNotice:
    """Tell this test app of an event of agents' processing, of a consent that there is not; returns the notice.

    The agents ask people who sign in, and nobody signs in as a sandbox person.
    """
    now, (subject, _, state) = database_now(), event.partition(".")
    names = {f"{subject}_id": new_identifier(_PREFIXES[subject])} if subject in _PREFIXES else {}
    status = "live" if event is ProcessingEvent.CONSENT_GIVEN else state
    occurred = Occurrence(event, app_pk, new_identifier("pcn"), status, **names)
    return notify_of_processing([occurred], now)[0]


def answer_connection(*, app_pk: int, by: User, connection_id: str, connects: bool) -> SandboxConnection:
    """Connect this sandbox person with the app by this connection, or decline. Raises as the pages' actions do."""
    found = Connection.objects.select_related("app__application").filter(app=app_pk, connection_id=connection_id)
    connection = found.first()
    if connection is None:
        raise UnknownConnection
    if connects:
        connection = connections.connect(connection=connection, by=by)
    else:
        connections.decline(connection=connection, by=by)
        connection.refresh_from_db()
    return {
        "status": ConnectionStatus(connection.status),
        "request_id": connection.request.request_id if connection.request else None,
        "refusal": connection.refusal or None,
        "return_to": connections.return_to(connection=connection) if connection.return_url else None,
    }


@transaction.atomic
def delete_person(*, of: User) -> None:
    """End what waits as expired, what is shared as terminated, and destroy the vault. What was done stays on record.

    The account stays too, as history names it, but nobody reaches it any more.
    """
    if not SandboxPerson.objects.select_for_update().filter(user=of).delete()[0]:
        return  # somebody else was faster
    of.is_active = False
    of.save(update_fields=["is_active", "updated_at"])
    now = database_now()
    # all of them before the first is written down: requests and grants are locked before any head
    requests = ConsentRequest.objects.select_for_update().filter(user=of, status=RequestStatus.PENDING).order_by("pk")
    grants = Grant.objects.select_for_update().filter(user=of, status__in=LIVE_GRANTS).order_by("pk")
    pending, shared = list(requests), list(grants)
    for request in pending:
        close_request(
            request_pk=request.pk, to=RequestStatus.EXPIRED, actor=Actor.SYSTEM, at=now, compare_with=request.expires_at
        )
    for grant in shared:
        end = GrantStatus.TERMINATED if grant.is_live(now) else GrantStatus.EXPIRED
        end_grant(grant_pk=grant.pk, to=end, actor=Actor.SYSTEM, at=now)
    destroy_vault(of=of)
