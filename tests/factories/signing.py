"""What a person's vault signs with, and what it keeps for itself."""

import factory
from django.conf import settings
from factory.django import DjangoModelFactory

from consent.approvals.models import ApprovalKey
from pkm.notes.models import VaultNotes
from tests.factories.accounts import PersonFactory
from tests.factories.developers import AppFactory


class ApprovalKeyFactory(DjangoModelFactory):
    class Meta:
        model = ApprovalKey

    user = factory.SubFactory(PersonFactory)
    app = factory.SubFactory(AppFactory)
    public_key = {"kty": "OKP", "crv": "Ed25519", "x": "A" * 43}
    root = "B" * 43
    issuer = factory.LazyFunction(lambda: settings.ISSUER)


class VaultNotesFactory(DjangoModelFactory):
    """Sealed by nobody."""

    class Meta:
        model = VaultNotes

    user = factory.SubFactory(PersonFactory)
    revision = 1
    jwe = "a.b.c.d.e"
