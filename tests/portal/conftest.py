"""A member of an app at the portal, and the server that its webhooks reach."""

import pytest
from django.test import Client

from developers.models import AppMember
from tests.callers import sign_in
from tests.consent.conftest import member, receiver  # noqa: F401  # fixtures


@pytest.fixture
def developer(client: Client, member: AppMember) -> Client:  # noqa: F811  # the fixture
    """`member`, signed in at the portal."""
    sign_in(client, member.user)
    return client
