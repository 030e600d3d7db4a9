"""A scope that 10,000 people use, withdrawn in one action at one server, while another one is asked to approve it."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest
import requests
from django.conf import settings
from django.db import connection
from django.test import Client

from accounts.identifiers import new_user_id
from accounts.models import User
from common.identifiers import new_identifier
from consent.decisions.models import ScopeWithdrawal
from consent.decisions.withdrawals import finish_withdrawals
from consent.grants.models import Grant
from consent.ledger import audit, verifying
from consent.requests.models import ConsentRequest
from consent_bridge import sealed
from developers.models import App
from pkm.registry.models import ScopeEntry
from pkm.segments.models import Blob
from tests import factories
from tests.callers import signed_in
from tests.consent.api.addresses import request_body
from tests.consent.decisions import approval_body
from tests.factories import invitation_of
from tests.factories.consent_requests import FOOD, now
from tests.served_site import running_site
from tests.staff import at_the_admin

PEOPLE = 10_000
pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="rows in such numbers are PostgreSQL's"),
]


@pytest.fixture
def sites(transactional_db: None) -> Iterator[list[str]]:
    """Two servers, and no worker beside them."""
    with ExitStack() as stack:
        yield [stack.enter_context(running_site()) for _ in range(2)]


def _browser(client: Client, site: str) -> requests.Session:
    """What `client` is signed in with, at a real server, with the CSRF token in its header."""
    browser, name = requests.Session(), settings.SESSION_COOKIE_NAME
    browser.cookies.set(name, client.cookies[name].value)
    browser.cookies.set(settings.CSRF_COOKIE_NAME, "x" * 32)
    browser.headers.update({"X-CSRFToken": "x" * 32, "Origin": site, "Referer": f"{site}/"})
    return browser


def _request(app: App, user: User, entry: ScopeEntry, key: dict[str, Any], **more: Any) -> ConsentRequest:
    return ConsentRequest(
        request_id=new_identifier("req"), app=app, user=user, pairwise_id=new_user_id(), scope_entry=entry,
        scope=entry.scope, app_name=app.name, attributes=entry.attributes, purpose="Suggest restaurants",
        connector_public_key=key, connector_key_id="key-1", connector_thumbprint=sealed.thumbprint(key),
        wrapping_alg="ECDH-ES+A256KW", access_duration=86400, expires_at=now() + timedelta(days=1),
        request_digest="A" * 43, created_at=now(), **more,
    )  # fmt: skip


def _populate() -> App:
    """Half of the people have a request that waits, the other half a live grant; all of them keep such data."""
    app, entry = factories.AppFactory(), ScopeEntry.objects.get(scope=FOOD)
    key = sealed.public_half(sealed.generate_connector_key())
    people = User.objects.bulk_create(
        User(email=f"one-of-many-{number}@example.org", password="!") for number in range(PEOPLE)
    )
    Blob.objects.bulk_create(
        Blob(
            user=person, domain="lifestyle", segment_id="food", ciphertext="x", content_revision=1,
            manifest_revision=1, size_bytes=1,
        )
        for person in people
    )  # fmt: skip
    half = PEOPLE // 2
    ConsentRequest.objects.bulk_create(_request(app, person, entry, key) for person in people[:half])
    decided = ConsentRequest.objects.bulk_create(
        _request(app, person, entry, key, status="approved", decided_at=now(), decided_by="person")
        for person in people[half:]
    )
    Grant.objects.bulk_create(
        Grant(
            grant_id=new_identifier("grt"), request=request, app=app, user=request.user, scope=FOOD,
            approved_attributes=entry.attributes, starts_at=now(), expires_at=now() + timedelta(days=1),
        )
        for request in decided
    )  # fmt: skip
    return app


def _numbers(page: str) -> list[str]:
    return [
        part.split("</strong>")[0] for part in page.split('class="touched"')[1].split("</ul>")[0].split("<strong>")[1:]
    ]


@pytest.mark.long("the task goes through all 10,000; in short through its first batch")
def test_scope_of_ten_thousand_people_is_withdrawn_at_once(sites: list[str], long_form: bool) -> None:
    app = _populate()
    person = factories.PersonFactory()
    vault = factories.give_vault(person)
    waiting = factories.ConsentRequestFactory(user=person, app=app)
    body = approval_body(waiting, vault)
    token = {"Authorization": f"Bearer {factories.TokenFactory(app=app).secret}"}
    staff = _browser(at_the_admin(factories.StaffFactory()), sites[0])
    owner = _browser(signed_in(person).client, sites[1])
    entry = ScopeEntry.objects.get(scope=FOOD)
    chosen = {"action": "withdraw", "_selected_action": entry.pk, "csrfmiddlewaretoken": "x" * 32}
    address = f"{sites[0]}/admin/pkm/scopeentry/"

    discovery = f"{sites[1]}/api/v1/user-scopes/{invitation_of(person)}"
    assert FOOD in requests.get(discovery, headers=token, timeout=60).text
    confirmation = staff.post(address, data=chosen, timeout=60)
    assert _numbers(confirmation.text) == ["10,001", "5,001", "5,000"]
    assert "Also end these 5000 live grants" in confirmation.text
    assert ScopeEntry.objects.get(scope=FOOD).exposure_enabled is True

    done = staff.post(
        address, data={**chosen, "confirmed": "yes", "ends_grants": "yes"}, timeout=60, allow_redirects=False
    )
    assert done.status_code == 302

    # the other server: nobody discovers it, asks for it or approves it
    assert FOOD not in requests.get(discovery, headers=token, timeout=60).text
    key = sealed.public_half(sealed.generate_connector_key())
    again = requests.post(
        f"{sites[1]}/api/v1/request-consent",
        json=request_body(person, connector_public_key=key, scope=FOOD),
        headers=token,
        timeout=60,
    )
    assert again.json()["code"] == "invalid_scope"
    refused = owner.post(f"{sites[1]}/consent/requests/{waiting.request_id}/decision", json=body, timeout=60)
    assert (refused.status_code, refused.json()["code"]) == (409, "already_decided"), refused.text
    assert refused.json()["request_status"] == "cancelled"

    # the answer waited for none of them
    assert ScopeWithdrawal.objects.filter(finished_at=None, cancelled=0, ended=0).count() == 1
    ended = finish_withdrawals(most_seconds=3600 if long_form else 0)
    withdrawal = ScopeWithdrawal.objects.get()
    assert (withdrawal.cancelled + withdrawal.ended, ended > 0) == (ended, True)
    assert ConsentRequest.objects.filter(status="cancelled", decided_by="staff").count() == withdrawal.cancelled + 1
    assert Grant.objects.filter(status="terminated", ended_by="staff").count() == withdrawal.ended
    if long_form:
        assert (withdrawal.cancelled, withdrawal.ended) == (PEOPLE // 2, PEOPLE // 2)
        assert withdrawal.finished_at is not None
    assert not list(verifying.verify(audit.app_chain(app.app_id)))
