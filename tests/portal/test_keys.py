"""The page of connector keys: what an app's requests were sealed to."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from developers.models import App, AppMember
from portal.keys import UsedKey, keys_of, used_keys
from tests.factories import AppFactory, ConsentRequestFactory, GrantFactory
from tests.factories.consent_requests import now

pytestmark = pytest.mark.django_db


def page(app: App) -> str:
    return f"/developers/apps/{app.app_id}/keys/"


def test_each_key_with_its_use_and_its_live_grants(client: Client, member: AppMember) -> None:
    app, later = member.app, now()
    earlier = later - timedelta(days=3)
    first = ConsentRequestFactory(app=app, created_at=earlier, expires_at=later)
    same: dict[str, Any] = {"app": app, "connector": first.connector, "connector_key_id": first.connector_key_id}
    live = GrantFactory(request=ConsentRequestFactory(status="approved", created_at=later, **same))
    GrantFactory(request=ConsentRequestFactory(status="approved", created_at=later, **same), status="revoked")
    ran_out = ConsentRequestFactory(status="approved", created_at=earlier, **same)
    GrantFactory(request=ran_out, expires_at=earlier + timedelta(days=1))
    other = ConsentRequestFactory(app=app, connector_key_id="key-2", created_at=later - timedelta(hours=1))
    ConsentRequestFactory(app=AppFactory())

    seen = keys_of(app, later)

    assert seen == [
        UsedKey("key-1", first.connector_thumbprint, earlier, later, 4, 1),
        UsedKey("key-2", other.connector_thumbprint, other.created_at, other.created_at, 1, 0),
    ]
    client.force_login(member.user)
    shown = client.get(page(app)).content.decode()
    assert first.connector_thumbprint in shown
    assert live.user.public_id not in shown


def test_what_waits_for_a_connection_is_no_use_of_a_key(member: AppMember) -> None:
    first = ConsentRequestFactory(app=member.app)
    same: dict[str, Any] = {"app": member.app, "connector": first.connector, "withheld": True}
    GrantFactory(request=ConsentRequestFactory(status="approved", **same))
    ConsentRequestFactory(connector_key_id="key-2", **same)

    [used] = keys_of(member.app, now())

    assert (used.connector_key_id, used.requests, used.live_grants) == ("key-1", 1, 0)


def test_an_app_that_asked_nothing_is_told_what_will_be_here(client: Client, member: AppMember) -> None:
    client.force_login(member.user)

    assert "No key yet" in client.get(page(member.app)).content.decode()


def test_the_use_of_keys_is_read_out_of_an_index_alone(member: AppMember) -> None:
    ConsentRequestFactory.create_batch(3, app=member.app)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":  # so few rows are read as they lie otherwise
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("SET LOCAL enable_bitmapscan = off")
            cursor.execute("SET LOCAL enable_indexscan = off")

    plan = used_keys(member.app).explain()

    assert re.search("(Index Only Scan using|USING COVERING INDEX) consent_known_request_keys", plan), plan
