"""Whom a person may share restricted data with: an app for whose key somebody vouches."""

from datetime import timedelta

import pytest
from django.db import connection

from accounts.models import User
from common.clock import database_now, rfc3339
from consent.connector_keys import registered as registrations
from consent.connector_keys.actions import register_key, remove_key
from consent.connector_keys.models import ConnectorKey
from consent.ledger.models import AuditEntry, AuditFacts
from consent.log.sequencing import sequence_and_sign
from consent.requests.models import ConsentRequest
from consent.requests.vouching import Vouching, vouching_of
from consent_bridge.entries import read_entry
from tests.callers import JsonClient
from tests.consent.decisions import approval_body
from tests.factories import AppFactory, ConsentRequestFactory, SandboxPersonFactory, TestAppFactory, Vault, give_vault
from tests.vouched import LONG_AGO, registered, vouch_for

pytestmark = pytest.mark.django_db
SPENDING = {("financial", "signals"): {"spend_bracket": "Middle"}}
SIGNALS = "attr.financial.signals.*"


def who(request: ConsentRequest) -> str:
    return vouching_of(request).by


@pytest.fixture
def vault(person: User) -> Vault:
    return give_vault(person, SPENDING)


def test_a_request_inserted_in_an_apps_name_gets_nothing_restricted(
    owner: JsonClient, person: User, vault: Vault
) -> None:
    """Who writes the database puts a request beside the real app's, with a key of their own."""
    real = ConsentRequestFactory(user=person, scope=SIGNALS)
    vouch_for(real)
    forged = ConsentRequestFactory(app=real.app, user=person, scope=SIGNALS)
    at = f"/consent/requests/{forged.request_id}"

    assert owner.get(f"{at}/data").json()["vouching"] == {"by": "nobody", "domain": None, "since": None, "entry": None}
    refused = owner.post(f"{at}/decision", approval_body(forged, vault))

    assert (refused.status_code, refused.json()["code"]) == (403, "key_not_vouched")
    assert ConsentRequest.objects.get(pk=forged.pk).status == "pending"
    real_at = f"/consent/requests/{real.request_id}"
    assert owner.post(f"{real_at}/decision", approval_body(real, vault)).json()["status"] == "approved"


def test_whoever_is_refused_can_still_deny(owner: JsonClient, person: User, vault: Vault) -> None:
    request = ConsentRequestFactory(user=person, scope=SIGNALS)
    denied = owner.post(f"/consent/requests/{request.request_id}/decision", {"decision": "deny"})
    assert denied.json()["status"] == "denied"


def test_since_when_a_registered_key_is_known(owner: JsonClient, person: User) -> None:
    request = ConsentRequestFactory(user=person)
    key = vouch_for(request)

    vouching = owner.get(f"/consent/requests/{request.request_id}/data").json()["vouching"]

    entry = read_entry(vouching.pop("entry"))
    assert vouching == {"by": "registered", "domain": None, "since": rfc3339(key.registered_at)}
    assert entry.facts is not None
    assert (entry.facts["app_id"], entry.facts["thumbprint"]) == (request.app.app_id, request.connector_thumbprint)


def test_a_key_removed_while_a_request_waits_vouches_no_more(owner: JsonClient, person: User, vault: Vault) -> None:
    request = ConsentRequestFactory(user=person, scope=SIGNALS)
    key = vouch_for(request)
    assert who(request) == "registered"
    remove_key(key=key, by=person)
    assert who(request) == "nobody"
    answer = owner.post(f"/consent/requests/{request.request_id}/decision", approval_body(request, vault))
    assert answer.json()["code"] == "key_not_vouched"


def test_a_removed_key_whose_row_was_brought_back_vouches_for_nothing(person: User) -> None:
    """Who writes the database takes the removal out of the row; the entry of the app's chain stays."""
    request = ConsentRequestFactory()
    key = vouch_for(request)
    other = registered(request.app, key_id="other")
    remove_key(key=other, by=person)
    assert who(request) == "registered"  # another key's removal is not its own
    remove_key(key=key, by=person)
    ConnectorKey.objects.filter(pk=key.pk).update(removed_at=None)

    assert who(request) == "nobody"


def test_a_removed_key_that_was_registered_again_vouches(person: User) -> None:
    request = ConsentRequestFactory()
    remove_key(key=vouch_for(request), by=person)
    vouch_for(request)
    assert who(request) == "registered"


def test_a_key_registered_just_now_vouches_for_nothing_yet() -> None:
    request = ConsentRequestFactory()
    given = {"app": request.app, "jwk": request.connector_public_key}
    registered(**given, at=database_now() - timedelta(hours=23))
    assert who(request) == "nobody"


def test_what_the_log_does_not_have_vouches_for_nothing(person: User) -> None:
    request = ConsentRequestFactory()
    at = database_now() - LONG_AGO
    register_key(app=request.app, key_id="k", jwk=request.connector_public_key, by=person, at=at)
    assert who(request) == "nobody"
    sequence_and_sign()
    assert who(request) == "registered"


def test_a_row_that_somebody_wrote_vouches_for_nothing() -> None:
    request = ConsentRequestFactory()
    real = registered(request.app)
    fields = {field.attname: getattr(real, field.attname) for field in ConnectorKey._meta.concrete_fields}
    own = {"id": None, "thumbprint": request.connector_thumbprint, "jwk": request.connector_public_key, "entry_id": 7}
    ConnectorKey.objects.create(**fields | own | {"key_id": "other"})
    assert who(request) == "nobody"


def test_a_registration_of_another_app_does_not_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thief's own app registered the key as it should; the row is made the real app's."""
    request = ConsentRequestFactory()
    key = registered(AppFactory(), jwk=request.connector_public_key)
    moved = ConnectorKey.objects.select_related("app").get(pk=key.pk)
    moved.app = request.app

    assert not registrations.is_genuine(moved)
    assert not registrations.proved_entry(moved)
    assert registrations.is_genuine(key)
    assert registrations.proved_entry(key)


@pytest.mark.parametrize("what", ["facts", "time", "kind"])
def test_an_entry_that_was_changed_proves_nothing(what: str) -> None:
    request = ConsentRequestFactory()
    key = vouch_for(request)
    entry = AuditEntry.objects.get(pk=key.entry_id)
    with connection.cursor() as cursor:
        from common.sql.triggers import install_rules
        from consent.rules import RULES

        for rule in RULES:
            if rule.statements(connection.vendor):
                cursor.execute(rule.statements(connection.vendor)[0])
        if what == "facts":
            AuditFacts.objects.filter(entry=entry).update(facts={})
        elif what == "time":
            AuditEntry.objects.filter(pk=entry.pk).update(at=entry.at - timedelta(days=1))
        else:
            AuditEntry.objects.filter(pk=entry.pk).update(kind="connector_key_removed")
        install_rules(connection, RULES)
    assert who(request) == "nobody"


def test_of_another_app_with_the_same_name_nothing_counts() -> None:
    request = ConsentRequestFactory()
    registered(AppFactory(name=request.app.name))
    assert who(request) == "nobody"


def test_a_sandbox_person_has_nothing_real(person: User) -> None:
    app = TestAppFactory()
    played = SandboxPersonFactory(app=app).user
    assert vouching_of(ConsentRequestFactory(app=app, user=played)) == Vouching("sandbox")
    assert vouching_of(ConsentRequestFactory(app=app, user=person)) == Vouching("nobody")  # a member who agreed is real
