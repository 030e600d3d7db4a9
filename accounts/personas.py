"""Which sides of the service somebody uses, and which they opened last: their own data, or the developer portal."""

from datetime import datetime, timedelta
from typing import Any

from accounts.models import ActorProfile, Persona, RuntimePersonaState, User

_SAME_VISIT = timedelta(hours=1)  # between two looks, and the later one is no new visit
_SAME_LOOK = timedelta(minutes=5)  # so that a look is hardly ever written down


def side_of(user: User) -> Persona:
    """The side that opens first; the consent app until they opened another one."""
    state = RuntimePersonaState.objects.filter(user=user).values_list("last_active_persona", flat=True).first()
    return Persona(state) if state else Persona.PERSON


def remember_side(user: User, side: Persona) -> None:
    """One read where they are on that side already, which is nearly always."""
    if side_of(user) != side:
        RuntimePersonaState.objects.update_or_create(user=user, defaults={"last_active_persona": side})
        _note_persona(user, side)


def own_actor_profile(user: User) -> ActorProfile:
    """Theirs, made where they have none: everybody is a person first."""
    return ActorProfile.objects.get_or_create(user=user, defaults={"personas": [Persona.PERSON.value]})[0]


def note_visit(user: User, now: datetime) -> datetime | None:
    """When they looked at their overview before this visit, of which this look is one; None at the first."""
    profile = own_actor_profile(user)
    last = profile.visited_at
    if last is None or now - last > _SAME_VISIT:
        profile.visited_before_at = last
    if last is None or now - last > _SAME_LOOK:
        profile.visited_at = now
        profile.save(update_fields=["visited_at", "visited_before_at"])
    return profile.visited_before_at


def _note_persona(user: User, side: Persona) -> None:
    profile = own_actor_profile(user)
    profile.personas = _in_order({*profile.personas, side.value})
    profile.last_active_persona = side
    profile.save(update_fields=["personas", "last_active_persona", "updated_at"])


def note_personas(sender: object, user: User, **_: Any) -> None:
    """At a sign-in: everybody is a person, and staff are staff only as long as they are."""
    RuntimePersonaState.objects.get_or_create(user=user)  # the consent app opens first, until they choose another side
    profile = own_actor_profile(user)
    others = set(profile.personas) - {Persona.STAFF.value} | {Persona.PERSON.value}
    personas = _in_order(others | ({Persona.STAFF.value} if user.is_staff else set()))
    if personas != profile.personas:
        profile.personas = personas
        profile.save(update_fields=["personas", "updated_at"])


def _in_order(personas: set[str]) -> list[str]:
    return [persona for persona in Persona.values if persona in personas]
