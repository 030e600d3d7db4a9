"""`manage.py verify_restore` over no rows, and over one person: apart from the tests that share a world."""

from typing import Any

from cryptography.fernet import Fernet

import tests.factories as factories
from common.encryption import sealed
from tests.config.restored.command import quick, whole


def test_an_empty_database_holds(db: None) -> None:
    assert "age: there are no audit entries" in whole()


def test_second_factors_are_looked_into(db: None, settings: Any) -> None:
    person = factories.PersonFactory()
    person.authenticator_set.create(type="totp", data={"secret": sealed("a")})
    person.authenticator_set.create(type="recovery_codes", data={"migrated_codes": [sealed("b"), sealed("c")]})
    whole(quick=True)
    settings.DATA_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    assert quick() == ["encryption: mfa_authenticator.data: 6 of 6 are under another key than DATA_ENCRYPTION_KEYS has"]
