"""Which side of the service somebody opened last: their own data, or the developer portal."""

from accounts.models import Persona, RuntimePersonaState, User


def side_of(user: User) -> Persona:
    """The side that opens first; the consent app until they opened another one."""
    state = RuntimePersonaState.objects.filter(user=user).values_list("last_active_persona", flat=True).first()
    return Persona(state) if state else Persona.PERSON


def remember_side(user: User, side: Persona) -> None:
    """One read where they are on that side already, which is nearly always."""
    if side_of(user) != side:
        RuntimePersonaState.objects.update_or_create(user=user, defaults={"last_active_persona": side})
