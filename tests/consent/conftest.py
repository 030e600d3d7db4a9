"""A grant as people come to one."""

import pytest

from accounts.models import User
from consent.decisions import actions
from consent.grants.models import Grant
from tests.callers import Developer
from tests.consent.decisions import approval
from tests.factories import ConsentRequestFactory, Vault, give_vault


@pytest.fixture
def vault(person: User) -> Vault:
    return give_vault(person)


@pytest.fixture
def grant(api: Developer, person: User, vault: Vault) -> Grant:
    """Approved as people approve, so that its entries and its receipt are there."""
    request = ConsentRequestFactory(app=api.app, user=person)
    actions.approve(request_id=request.request_id, by=person, body=approval(request, vault))
    return Grant.objects.select_related("request").get(request=request)
