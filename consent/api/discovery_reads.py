"""Token and person in one read, written by hand because it pays.

The plain equivalent is `developers.authentication.find_token`, then `consent.discovery.person_read.read_person`. What
is read of a person depends on the app, which a token names only once it was found. So this process remembers which app
each good token named, asks for both under that name, and looks whether the name was right. docs/adr/0046 has the
measurement.

To use it, a view has `DeveloperToken` find the app by `token_and_person`, and calls `person_of` with the app that was
let in.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from common.sql.statements import rows
from consent.discovery import person_read
from consent.discovery.person_read import PersonRead
from developers.apps.models import AppMode
from developers.authentication import (
    COLUMNS,
    IS_VALID,
    TABLES,
    AppContext,
    accept,
    app_of,
    find_token,
    validity,
)
from developers.tokens.digests import digest, has_form

_FIND = f"SELECT {COLUMNS}, p.* FROM {TABLES} LEFT JOIN ({{person}}) p ON a.mode = '{{mode}}' WHERE {IS_VALID}"  # noqa: S608  # constants of this program
_MOST_KNOWN = 10_000
_known: dict[str, tuple[int, bool]] = {}  # by digest: the app that a token named, and whether it is a test app


@dataclass(frozen=True, slots=True)
class AppWithPerson(AppContext):
    """The app that calls, with what was read with its token: a person, and what was asked about them."""

    person: PersonRead | None = None
    asked: tuple[str, str] = ("", "")  # the sharing ID and the hint


def token_and_person(token: str, asked: Callable[[], tuple[str, str]]) -> AppContext | None:
    """As `find_token`, with the person whom `asked` names, by sharing ID and hint, as far as that app meets them."""
    if not has_form(token):
        return None  # what has none may not even be text
    hashed = digest(token)
    app = _with_person(token, *_known[hashed], *asked()) if hashed in _known else find_token(token)
    if app is None:
        _known.pop(hashed, None)
    else:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[hashed] = (app.app_pk, app.is_test)
    return app


def _with_person(token: str, app_pk: int, is_test: bool, user_id: str, hint: str) -> AppContext | None:
    clock, parameters = validity(token)
    given = {**parameters, **person_read.parameters(app_pk=app_pk, user_id=user_id, hint=hint)}
    found = rows(_find(clock, is_test), given)
    if not found or not accept(found[0]):
        return None
    app, row = app_of(found[0]), found[0]
    if (app["app_pk"], app["is_test"]) != (app_pk, is_test) or row["version"] is None:
        return AppContext(**app)
    return AppWithPerson(**app, person=person_read.person_of(row), asked=(user_id, hint))


def person_of(*, app: AppContext, user_id: str, hint: str) -> PersonRead | None:
    """What `read_person` gives, without a read where it came with the token."""
    if isinstance(app, AppWithPerson) and app.asked == (user_id, hint):
        return app.person
    return person_read.read_person(app_pk=app.app_pk, is_test=app.is_test, user_id=user_id, hint=hint)


@cache
def _find(clock: str, is_test: bool) -> str:
    mode = AppMode.TEST if is_test else AppMode.LIVE
    return _FIND.format(person=person_read.statement(is_test=is_test), mode=mode.value, clock=clock)
