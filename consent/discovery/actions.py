"""An app discovers what it could ask a person for."""

from common.limits import Count
from consent.discovery import queries
from consent.discovery.counts import note_discovery
from consent.discovery.person_read import admit_person
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
    person, user_pk, found = admit_person(app, name=name, hint=hint)
    scopes = queries.user_scopes(person, wanted)
    note_discovery(app_pk=app.app_pk, user_pk=user_pk)
    return scopes, found
