"""People. Everybody's password is `PASSWORD`."""

import secrets
from datetime import timedelta

import factory
from django.utils import timezone
from factory.django import DjangoModelFactory

from accounts.models import ActorProfile, MarketplacePublicProfile, Persona, RuntimePersonaState, Session, User
from common.encryption import sealed

PASSWORD = "a-password-of-tests"


class PersonFactory(DjangoModelFactory):
    """Somebody who can sign in."""

    class Meta:
        model = User
        skip_postgeneration_save = True

    email = factory.Sequence(lambda number: f"person{number}@example.org")
    display_name = factory.Sequence(lambda number: f"Person {number}")
    password = factory.django.Password(PASSWORD)


class StaffFactory(PersonFactory):
    """A member of staff who may do everything in the admin."""

    email = factory.Sequence(lambda number: f"staff{number}@example.org")
    is_staff = True
    is_superuser = True


class ActorProfileFactory(DjangoModelFactory):
    class Meta:
        model = ActorProfile

    user = factory.SubFactory(PersonFactory)
    personas = [Persona.PERSON.value]


class PublicProfileFactory(DjangoModelFactory):
    class Meta:
        model = MarketplacePublicProfile

    user = factory.SubFactory(PersonFactory)
    display_name = "Zoe"
    headline = "Likes trains"


class PersonaStateFactory(DjangoModelFactory):
    class Meta:
        model = RuntimePersonaState

    user = factory.SubFactory(PersonFactory)


class SessionFactory(DjangoModelFactory):
    """A session that holds nothing, of a browser that nobody has."""

    class Meta:
        model = Session

    digest = factory.LazyFunction(lambda: secrets.token_hex(32))
    data = factory.LazyFunction(lambda: sealed("{}"))
    user = factory.SubFactory(PersonFactory)
    expires_at = factory.LazyFunction(lambda: timezone.now() + timedelta(days=14))
