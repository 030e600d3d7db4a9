"""Whom the developers of a test app may play."""

from accounts.models import User
from common.identifiers import is_identifier
from consent.errors import UnknownUser
from consent.sandbox import schemas
from consent.sandbox.models import SandboxPerson
from developers.apps.models import AppMode


def people_of_app(*, app_pk: int) -> list[schemas.SandboxPerson]:
    """The app's sandbox people, the newest first; one query."""
    people = SandboxPerson.objects.select_related("user").filter(app_id=app_pk)
    return [shown(person) for person in people.order_by("-pk")]


def shown(person: SandboxPerson) -> schemas.SandboxPerson:
    """One of them as a program gets it."""
    return {"user_id": person.user.public_id, "label": person.label}


def person_of_app(*, app_pk: int, user_id: str) -> User:
    """The sandbox person of this app. Raises `UnknownUser` for everybody else."""
    people = SandboxPerson.objects.select_related("user").filter(app_id=app_pk)
    return _only(people.filter(user__public_id=_readable(user_id)).first())


def person_of_member(*, by: User, app_id: str, user_id: str) -> User:
    """The sandbox person of a test app that `by` may manage. Raises `UnknownUser` for everybody else."""
    people = SandboxPerson.objects.select_related("user").filter(app__members__user=by, app__mode=AppMode.TEST)
    return _only(people.filter(app__app_id=_readable(app_id), user__public_id=_readable(user_id)).first())


def _readable(name: str) -> str:
    """What could not be one of our names is unknown, and never reaches the database."""
    return name if is_identifier(name) else ""


def _only(person: SandboxPerson | None) -> User:
    if person is None:
        raise UnknownUser
    user: User = person.user
    return user
