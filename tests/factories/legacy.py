"""What the old system left, sealed under its owner's old passphrase; made as `import_legacy` makes it."""

import json
from datetime import UTC, datetime
from functools import cache
from typing import Any

import factory
from django.db import connection
from factory.django import DjangoModelFactory
from joserfc import jwe
from joserfc.jwk import OctKey

from common import encryption
from common.sql.triggers import lifted
from pkm.legacy.models import LegacyBlob, LegacyMetadata, MigrationState, MigrationStatus
from pkm.legacy.rows import SOURCE
from pkm.rules import LEGACY_RULES
from tests.factories.accounts import PersonFactory
from tests.factories.making import makes

OLD_PASSPHRASE = "the one of the old system"
ALG = "PBES2-HS512+A256KW"
CHANGED = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)


def old_jwe(document: Any, passphrase: str = OLD_PASSPHRASE, *, iterations: int = 2_000) -> str:
    """A document as the old system sealed it; few iterations, so that tests need not wait."""
    return _sealed(json.dumps(document), passphrase, iterations)


@cache
def _sealed(text: str, passphrase: str, iterations: int) -> str:
    key = OctKey.import_key(passphrase)
    header = {"alg": ALG, "enc": "A256GCM", "p2c": iterations}
    return jwe.encrypt_compact(header, text, key, algorithms=[ALG, "A256GCM"])


class _Imported(DjangoModelFactory):
    """A row that only arrives where the triggers are lifted."""

    class Meta:
        abstract = True

    @classmethod
    def _create(cls, model_class: Any, *args: Any, **values: Any) -> Any:
        with lifted(connection, LEGACY_RULES):
            (row,) = model_class.objects.bulk_create([model_class(**values)])
        return row


class LegacyBlobFactory(_Imported):
    """The old document of one domain; `document` is what is sealed."""

    class Meta:
        model = LegacyBlob

    class Params:
        document = factory.LazyFunction(lambda: {"favorite_cuisine": "Georgian"})

    user = factory.SubFactory(PersonFactory)
    domain = "lifestyle"
    jwe = factory.LazyAttribute(lambda made: encryption.sealed(old_jwe(made.document)))
    updated_at = CHANGED


class LegacyMetadataFactory(_Imported):
    class Meta:
        model = LegacyMetadata

    user = factory.SubFactory(PersonFactory)
    domain = "lifestyle"
    summary = factory.LazyFunction(lambda: {"attributes": 1})
    updated_at = CHANGED


class MigrationStateFactory(makes(MigrationState)):
    """Somebody whose old rows wait."""

    user = factory.SubFactory(PersonFactory)
    source = SOURCE
    status = MigrationStatus.WAITING_FOR_UNLOCK
