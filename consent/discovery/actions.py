"""An app discovers what it could ask a person for."""

from common.limits import Count
from consent.discovery import queries, unknown_users
from consent.discovery.counts import note_discovery
from consent.discovery.person_read import read_person
from consent.errors import ScopeRegistryUnavailable
from consent.schemas import ScopesQuery
from consent.shapes import UserScopes
from developers.authentication import AppContext


def discover_scopes(
    *, app: AppContext, name: str, hint: str, wanted: ScopesQuery = queries.ALL_SCOPES
) -> tuple[UserScopes, Count]:
    """What the app could ask for, and the discovery written down, or else that it guessed at somebody unknown.

    Nothing is begun with the person by it: one whom the app never asked has no `user_id` yet. With it the limit on
    guessing, where the app stands for the caller that `hint` names.
    """
    person = read_person(app_pk=app.app_pk, is_test=app.is_test, is_personal=app.is_personal, name=name, hint=hint)
    if person is None:
        raise ScopeRegistryUnavailable()
    user_pk, found = unknown_users.admit(
        app_pk=app.app_pk,
        user_pk=person.user_pk,
        requested_before=person.requested_before,
        misses=person.misses,
        hint=hint,
    )
    scopes = queries.user_scopes(person, wanted)
    note_discovery(app_pk=app.app_pk, user_pk=user_pk)
    return scopes, found
