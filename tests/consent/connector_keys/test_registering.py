"""Whose a connector key is, and what an app registers."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import connection, connections, transaction
from django.test import Client

from common.clock import database_now, rfc3339
from common.problems import InvalidRequest, Problem
from consent.connector_keys.actions import claim_key, register_key, remove_key
from consent.connector_keys.models import USABLE_AFTER, ConnectorKey
from consent.connector_keys.queries import usable_key
from consent.errors import InvalidConnectorKey
from consent.ledger.models import AuditEntry
from consent.requests.models import ConsentRequest
from consent_bridge import sealed
from developers.models import App, AppAuditEntry, AppMember
from tests.callers import Developer, sign_in
from tests.factories import (
    AppFactory,
    ConnectorKeyFactory,
    MemberFactory,
    PersonFactory,
    TestAppFactory,
    give_vault,
    known_as,
)
from tests.outbox import send_mails
from tests.vouched import registered

pytestmark = pytest.mark.django_db
LOW_ORDER = {"kty": "OKP", "crv": "X25519", "x": "A" * 43}


def jwk() -> dict[str, str]:
    return sealed.public_half(sealed.generate_connector_key())


def page(app: App) -> str:
    return f"/developers/apps/{app.app_id}/keys/"


@pytest.fixture
def own() -> AppMember:
    made: AppMember = MemberFactory()
    return made


def test_a_registered_key_is_told_everywhere(client: Client, own: AppMember) -> None:
    other = MemberFactory(app=own.app)
    MemberFactory(app=own.app, role="member")
    sign_in(client, own.user)
    key = jwk()

    answer = client.post(page(own.app), {"key_id": "backend-1", "jwk": json.dumps({**key, "kid": "x", "ext": True})})

    assert (answer.status_code, answer.headers["Location"]) == (302, page(own.app))
    made = ConnectorKey.objects.get()
    assert (made.app, made.key_id, made.jwk, made.registered_by) == (own.app, "backend-1", key, own.user)
    assert made.usable_from - made.registered_at == timedelta(hours=24) == USABLE_AFTER
    entry = AuditEntry.objects.of(f"app:{own.app.app_id}").get()
    assert (entry.kind, entry.actor) == ("connector_key_registered", "app")
    assert entry.facts == {
        "app_id": own.app.app_id,
        "key_id": "backend-1",
        "thumbprint": sealed.thumbprint(key),
        "usable_from": rfc3339(made.usable_from),
    }
    assert AppAuditEntry.objects.get().action == "connector_key.registered"
    send_mails()
    assert {sent.to[0] for sent in mail.outbox} == {own.user.email, other.user.email}
    assert all(made.thumbprint in sent.body and page(own.app) in sent.body for sent in mail.outbox)
    shown = client.get(page(own.app)).content.decode()
    assert made.thumbprint in shown
    assert "people are told from" in shown


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("", "This field is required"),
        ("not json", "it is not valid JSON"),
        ('{"kty":"OKP","kty":"EC"}', "it is not valid JSON"),
        ("[]", "is not a JSON Web Key"),
        (json.dumps(LOW_ORDER), "is not a point"),
        (json.dumps(sealed.generate_connector_key()), "is a private member"),
        ('{"kty":"RSA","n":"AQAB","e":"AQAB"}', "neither an X25519 nor a P-256 key"),
    ],
    ids=["nothing", "text", "twice", "list", "low order", "private", "rsa"],
)
def test_what_is_no_public_key_is_refused_at_its_field(
    client: Client, own: AppMember, given: str, message: str
) -> None:
    sign_in(client, own.user)

    answer = client.post(page(own.app), {"key_id": "backend-1", "jwk": given})

    assert answer.status_code == 400
    assert message in str(answer.context["form"].errors["jwk"])  # type: ignore[index]  # of a page
    assert not ConnectorKey.objects.exists()


def test_a_key_waits_a_day_before_a_request_may_name_it_alone(own: AppMember) -> None:
    key, by_name = jwk(), {"app_pk": own.app.pk, "key_id": "backend-1"}
    register_key(app=own.app, key_id="backend-1", jwk=key, by=own.user)
    assert usable_key(**by_name) is None

    ConnectorKey.objects.update(
        usable_from=database_now() - timedelta(seconds=1), registered_at=database_now() - timedelta(days=2)
    )
    assert usable_key(**by_name) is None  # whoever writes the database makes no day of a minute

    other = registered(own.app, key_id="backend-2")
    assert usable_key(app_pk=own.app.pk, key_id="backend-2") == other.jwk
    assert usable_key(app_pk=AppFactory().pk, key_id="backend-2") is None
    remove_key(key=other, by=own.user)
    assert usable_key(app_pk=own.app.pk, key_id="backend-2") is None
    ConnectorKey.objects.filter(pk=other.pk).update(removed_at=None)
    assert usable_key(app_pk=own.app.pk, key_id="backend-2") is None  # the chain says that it was removed


def test_a_removed_key_waits_again(own: AppMember) -> None:
    key = registered(own.app)
    assert remove_key(key=key, by=own.user)
    assert not remove_key(key=key, by=own.user)
    kinds = AuditEntry.objects.of(f"app:{own.app.app_id}").order_by("sequence").values_list("kind", flat=True)
    assert list(kinds) == ["connector_key_registered", "connector_key_removed"]

    again = register_key(app=own.app, key_id=key.key_id, jwk=key.jwk, by=own.user)
    assert again.pk == key.pk
    assert again.usable_from > database_now() + timedelta(hours=23)


def test_one_name_and_one_registration_at_a_time(own: AppMember) -> None:
    key = registered(own.app)
    with pytest.raises(InvalidRequest, match="already"):
        register_key(app=own.app, key_id="key-2", jwk=key.jwk, by=own.user)
    with pytest.raises(InvalidRequest, match="this name"):
        register_key(app=own.app, key_id=key.key_id, jwk=jwk(), by=own.user)


@pytest.mark.parametrize("make", [AppFactory, TestAppFactory])
def test_a_key_of_another_app_is_refused(api: Developer, make: Any) -> None:
    person, key = PersonFactory(), jwk()
    give_vault(person)
    ConnectorKeyFactory(app=make(), thumbprint=sealed.thumbprint(key))

    answer = api.post("/request-consent", asking(known_as(api.app, person), key))

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_connector_key")
    assert not ConsentRequest.objects.exists()
    with pytest.raises(InvalidConnectorKey, match="another app"):
        register_key(app=api.app, key_id="backend-1", jwk=key, by=person)


def asking(user_id: str, key: dict[str, str] | None, **changes: Any) -> dict[str, Any]:
    body = {
        "user_id": user_id,
        "scope": "attr.lifestyle.food.*",
        "purpose": "Suggest restaurants that you would like",
        "connector_key_id": "key-1",
        "connector_wrapping_alg": "ECDH-ES+A256KW",
        **changes,
    }
    return body if key is None else {**body, "connector_public_key": key}


def test_a_refused_request_claims_no_key(api: Developer) -> None:
    answer = api.post("/request-consent", asking("usr_nobody", jwk()))

    assert answer.status_code == 404
    assert not ConnectorKey.objects.exists()


def test_a_request_may_leave_the_key_out_where_it_is_registered(api: Developer) -> None:
    person = PersonFactory()
    give_vault(person)
    body = asking(known_as(api.app, person), None)
    refused = api.post("/request-consent", body)
    assert (refused.status_code, refused.json()["code"]) == (400, "connector_key_required")
    key = registered(api.app)

    answer = api.post("/request-consent", body)

    assert answer.status_code == 201
    assert answer.json()["connector_fingerprint"] == key.thumbprint
    assert ConsentRequest.objects.get().connector_public_key == key.jwk
    assert api.post("/request-consent", {**body, "connector_public_key": None}).status_code == 200  # the same


def test_the_same_key_again_stays_the_apps(api: Developer) -> None:
    key = jwk()
    for _ in range(2):
        person = PersonFactory()
        give_vault(person)
        assert api.post("/request-consent", asking(known_as(api.app, person), key)).status_code == 201
    assert ConnectorKey.objects.get().app == api.app


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="rows are raced for on PostgreSQL")
def test_of_two_apps_that_race_for_a_key_one_has_it() -> None:
    apps = [AppFactory(), AppFactory()]
    barrier = threading.Barrier(2)

    def claim(app: App, thumbprint: str) -> bool:
        try:
            barrier.wait()
            with transaction.atomic():
                claim_key(app_pk=app.pk, thumbprint=thumbprint)
        except Problem:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(2) as pool:
        for number in range(40):
            thumbprint = f"{number:043}"
            won = list(pool.map(lambda app, raced=thumbprint: claim(app, raced), apps))
            assert sorted(won) == [False, True]
            assert ConnectorKey.objects.get(thumbprint=thumbprint).app == apps[won.index(True)]


def test_nobody_makes_a_key_another_apps(own: AppMember) -> None:
    from django.db import DatabaseError

    key = ConnectorKeyFactory(app=own.app)
    with pytest.raises(DatabaseError), transaction.atomic():
        ConnectorKey.objects.filter(pk=key.pk).update(app=AppFactory())
    assert connection.is_usable()
