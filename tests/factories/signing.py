"""What a person's vault signs with, and what it keeps for itself."""

import factory
from django.conf import settings

from consent.approvals.models import ApprovalKey
from pkm.notes import VaultNotes
from tests.factories.accounts import PersonFactory
from tests.factories.developers import AppFactory
from tests.factories.making import makes


class ApprovalKeyFactory(makes(ApprovalKey)):
    user = factory.SubFactory(PersonFactory)
    app = factory.SubFactory(AppFactory)
    public_key = {"kty": "OKP", "crv": "Ed25519", "x": "A" * 43}
    root = "B" * 43
    issuer = factory.LazyFunction(lambda: settings.ISSUER)


class VaultNotesFactory(makes(VaultNotes)):
    """Sealed by nobody."""

    user = factory.SubFactory(PersonFactory)
    revision = 1
    jwe = "a.b.c.d.e"
