"""A test app and the person whom its developers play."""

from typing import Any

import pytest

from accounts.models import User
from developers.models import App
from tests.callers import Developer
from tests.factories import SandboxPersonFactory, TestAppFactory, Vault, give_vault


@pytest.fixture
def app(db: None) -> App:
    made: App = TestAppFactory()
    return made


@pytest.fixture
def played(app: App) -> User:
    """A sandbox person of `app` without a vault."""
    user: User = SandboxPersonFactory(app=app).user
    return user


@pytest.fixture
def vault(played: User) -> Vault:
    return give_vault(played)


@pytest.fixture
def live_api(db: None) -> Developer:
    from tests.factories import AppFactory

    return Developer.of(AppFactory())


def of(person: Any, address: str = "") -> str:
    """The path of a sandbox person's address under /api/v1."""
    return f"/sandbox/people/{person.public_id}{address}"
