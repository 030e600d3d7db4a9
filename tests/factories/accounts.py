"""People. Everybody's password is `PASSWORD`."""

import json
import secrets
from datetime import timedelta
from typing import Any

import factory
from django.utils import timezone

from accounts.models import (
    ActorProfile,
    AlertSettings,
    Erasure,
    ErasureRequester,
    MarketplacePublicProfile,
    OutgoingMail,
    OutgoingPush,
    Persona,
    PushSubscription,
    ReleasedHandle,
    RuntimePersonaState,
    SecurityChange,
    Session,
    SharingId,
    User,
    UserPhoto,
    WayChange,
)
from accounts.public_profile.handles import folded
from accounts.sharing_id import LASTS, new_sharing_id
from common.encryption import opened, sealed
from common.identifiers import secret_digest
from tests.factories.making import makes

PASSWORD = "a-password-of-tests"


class PersonFactory(makes(User)):
    """Somebody who can sign in."""

    class Meta:
        skip_postgeneration_save = True

    email = factory.Sequence(lambda number: f"person{number}@example.org")
    display_name = factory.Sequence(lambda number: f"Person {number}")
    password = factory.django.Password(PASSWORD)


class StaffFactory(PersonFactory):
    """A member of staff who may do everything in the admin."""

    email = factory.Sequence(lambda number: f"staff{number}@example.org")
    is_staff = True
    is_superuser = True


class ActorProfileFactory(makes(ActorProfile)):
    user = factory.SubFactory(PersonFactory)
    personas = [Persona.PERSON.value]


class PublicProfileFactory(makes(MarketplacePublicProfile)):
    user = factory.SubFactory(PersonFactory)
    handle = factory.Sequence(lambda number: f"zoe-{number}")
    display_name = "Zoe"
    headline = "Likes trains"
    search_name = factory.LazyAttribute(lambda made: folded(made.display_name))


class UserPhotoFactory(makes(UserPhoto)):
    user = factory.SubFactory(PersonFactory, photo_digest="0" * 64)
    webp = factory.LazyFunction(lambda: sealed("UklGRg=="))


class ReleasedHandleFactory(makes(ReleasedHandle)):
    handle = factory.Sequence(lambda number: f"given-up-{number}")
    user = factory.SubFactory(PersonFactory)
    released_at = factory.LazyFunction(timezone.now)


class ListedPersonFactory(PublicProfileFactory):
    """The profile of somebody whose page is on and whom apps may find."""

    class Meta:
        skip_postgeneration_save = True

    is_discoverable = True

    @factory.post_generation
    def listed(self: MarketplacePublicProfile, create: bool, extracted: object, **_: object) -> None:
        ActorProfile.objects.update_or_create(user=self.user, defaults={"personas": ["person"], "discoverable": True})


class PersonaStateFactory(makes(RuntimePersonaState)):
    user = factory.SubFactory(PersonFactory)


class SessionFactory(makes(Session)):
    """A session that holds nothing, of a browser that nobody has."""

    digest = factory.LazyFunction(lambda: secrets.token_hex(32))
    data = factory.LazyFunction(lambda: sealed("{}"))
    user = factory.SubFactory(PersonFactory)
    expires_at = factory.LazyFunction(lambda: timezone.now() + timedelta(days=14))


class SharingIdFactory(makes(SharingId)):
    """An invitation that nobody used yet; it is at `made.sharing_id`."""

    user = factory.SubFactory(PersonFactory)
    digest = factory.LazyAttribute(lambda made: secret_digest(made.sharing_id))
    sealed = factory.LazyAttribute(lambda made: sealed(made.sharing_id))
    made_at = factory.LazyFunction(timezone.now)
    expires_at = factory.LazyAttribute(lambda made: made.made_at + LASTS)
    sharing_id = factory.LazyFunction(new_sharing_id)

    @classmethod
    def _create(cls, model_class: Any, *args: Any, sharing_id: str, **kwargs: Any) -> SharingId:
        made: SharingId = super()._create(model_class, *args, **kwargs)
        made.sharing_id = sharing_id
        return made


def invitation_of(person: User) -> str:
    """Their sharing ID, made where there is none."""
    row = SharingId.objects.filter(user=person).first()
    return opened(row.sealed) if row else str(SharingIdFactory(user=person).sharing_id)


class ErasureFactory(makes(Erasure)):
    """An account that goes in a week, as its person asked."""

    user = factory.SubFactory(PersonFactory)
    asked_by = ErasureRequester.PERSON
    asked_at = factory.LazyFunction(timezone.now)
    due_at = factory.LazyAttribute(lambda made: made.asked_at + timedelta(days=7))


class SecurityChangeFactory(makes(SecurityChange)):
    """A changed password that its person was not written about yet."""

    user = factory.SubFactory(PersonFactory)
    kind = WayChange.PASSWORD_CHANGED
    address = factory.LazyAttribute(lambda made: made.user.email)


class OutgoingMailFactory(makes(OutgoingMail)):
    """A mail that is due."""

    template = "account_security/mail/reset"
    user = factory.SubFactory(PersonFactory)
    sealed = factory.LazyAttribute(
        lambda made: sealed(json.dumps({"subject": "Hello", "body": "Words", "to": made.user.email}))
    )
    due_at = factory.LazyFunction(timezone.now)
    until = factory.LazyAttribute(lambda made: made.due_at + timedelta(days=7))


class AlertSettingsFactory(makes(AlertSettings)):
    """The defaults, stored."""

    user = factory.SubFactory(PersonFactory)
    seen_until = factory.LazyFunction(timezone.now)


class PushSubscriptionFactory(makes(PushSubscription)):
    """A browser that nobody has."""

    user = factory.SubFactory(PersonFactory)
    digest = factory.LazyFunction(lambda: secrets.token_hex(32))
    sealed = factory.LazyFunction(lambda: sealed("{}"))
    made_at = factory.LazyFunction(timezone.now)


class OutgoingPushFactory(makes(OutgoingPush)):
    """A message that is due."""

    subscription = factory.SubFactory(PushSubscriptionFactory)
    sealed = factory.LazyFunction(lambda: sealed("{}"))
    due_at = factory.LazyFunction(timezone.now)
    until = factory.LazyAttribute(lambda made: made.due_at + timedelta(days=1))
