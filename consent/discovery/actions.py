"""An app discovers what it could ask a person for."""

from consent.discovery import queries, unknown_users
from consent.discovery.counts import note_discovery
from consent.discovery.person_read import PersonRead
from consent.errors import ScopeRegistryUnavailable
from consent.meter import Meter
from consent.shapes import UserScopes
from developers.authentication import AppContext


def discover_scopes(*, app: AppContext, user_id: str, person: PersonRead | None, meter: Meter) -> UserScopes:
    """What the app could ask for, and the discovery written down, or else that it guessed at somebody unknown.

    `person` is what `read_person` gives of that ID; `meter` takes note of the limit on guessing. No query beside those
    of a first discovery.
    """
    if person is None:
        raise ScopeRegistryUnavailable
    user_pk = unknown_users.admit(app_pk=app.app_pk, user_pk=person.user_pk, guesses=person.guesses, meter=meter)
    scopes = queries.user_scopes(user_id=user_id, person=person)
    note_discovery(app_pk=app.app_pk, user_pk=user_pk)
    return scopes
