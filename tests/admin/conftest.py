"""A member of staff and their pages."""

import pytest
from django.test import Client

from accounts.models import User
from tests import factories
from tests.staff import at_the_admin


@pytest.fixture
def staff(db: None) -> User:
    """Somebody who may do everything in the admin."""
    made: User = factories.StaffFactory()
    return made


@pytest.fixture
def page(staff: User) -> Client:
    """Their browser, signed in."""
    return at_the_admin(staff)
