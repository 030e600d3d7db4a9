"""Who may see a card of "My data" and who asked: live and not paused, waiting and not over, and only one's own."""

from datetime import timedelta

import pytest

from consent.audience import audience_of
from pkm.hooks import Audience, Concerned
from pkm.hooks import audience_of as vault_audience_of
from tests.factories import ConsentRequestFactory, GrantFactory, PersonFactory
from tests.factories.consent_requests import now

pytestmark = pytest.mark.django_db


def test_live_grants_may_see_and_pending_requests_wait(django_assert_max_num_queries):
    person = PersonFactory()
    grant = GrantFactory(request__user=person)
    GrantFactory(request__user=person, status="paused")
    GrantFactory(request__user=person, status="revoked")
    GrantFactory(request__user=PersonFactory())
    request = ConsentRequestFactory(user=person, scope="attr.location.home.*")
    newest = ConsentRequestFactory(user=person, app=request.app, scope="attr.location.home.city")
    ConsentRequestFactory(user=person, status="denied")
    ConsentRequestFactory(user=person, created_at=now() - timedelta(days=2))
    ConsentRequestFactory(user=PersonFactory())

    with django_assert_max_num_queries(3):
        found = audience_of(person)

    assert found == {
        "lifestyle": Audience(may_see=[Concerned(grant.app.name, "", f"/consent/apps/{grant.app.app_id}/")]),
        "location": Audience(requesters=[Concerned(request.app_name, "", f"/consent/requests/{newest.request_id}/")]),
    }
    assert vault_audience_of(person) == found


def test_nobody_concerns_a_person_whom_nobody_asked():
    assert audience_of(PersonFactory()) == {}
