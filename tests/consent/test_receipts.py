"""What receipts prove: what happened and when, of which attributes, and that the two copies belong together."""

from datetime import timedelta
from typing import Any

import pytest
from joserfc import jws
from joserfc.jwk import KeySet

from accounts.models import User
from common.clock import rfc3339
from consent.decisions import actions as decision_actions
from consent.decisions import expiry
from consent.ledger import audit
from consent.ledger.models import AuditEntry, Receipt
from consent.ledger.receipts import claims_of, public_keys
from consent.requests.models import ConsentRequest
from developers.apps.actions import changing_app
from developers.models import App, DeveloperApplication
from tests.callers import Developer, signed_in
from tests.consent.api.addresses import request_body
from tests.consent.decisions import approval
from tests.factories import (
    AppFactory,
    ConsentRequestFactory,
    ExportFactory,
    PersonFactory,
    SandboxPersonFactory,
    TestAppFactory,
    give_vault,
)
from tests.factories.consent_requests import now

CUISINE, DIET = "lifestyle.food.favorite_cuisine", "lifestyle.food.diet_preference"
pytestmark = pytest.mark.django_db


def claims(token: str) -> dict[str, Any]:
    keys = KeySet.import_key_set(public_keys())  # type: ignore[arg-type]  # the stubs want their own shape
    return claims_of(jws.deserialize_compact(token, keys, algorithms=["EdDSA"]).payload)


def claims_for(request: ConsentRequest) -> dict[str, Any]:
    return claims(Receipt.objects.get(request=request).jws)


def test_each_copy_names_the_entry_of_its_own_chain() -> None:
    decision_actions.deny(request_id=ConsentRequestFactory().request_id, by=ConsentRequest.objects.get().user)
    receipt = Receipt.objects.get()
    own, app = claims(receipt.jws), claims(receipt.app_jws)

    request = receipt.request
    for copy, subject in (
        (own, audit.person_chain(request.user.public_id)),
        (app, audit.app_chain(request.app.app_id)),
    ):
        entry = AuditEntry.objects.of(subject).get()
        assert copy.pop("audit") == {"chain": entry.chain, "sequence": 1, "entry_hash": entry.entry_hash}
    assert own == app


def test_an_expiry_is_dated_by_its_deadline() -> None:
    before = now() - timedelta(days=2)
    request = ConsentRequestFactory(created_at=before - timedelta(hours=1), expires_at=before)
    grant = ExportFactory(grant__starts_at=before - timedelta(hours=1), grant__expires_at=before).grant

    assert expiry.write_down_expiry() == 2

    for ended in (request, grant.request):
        assert claims_for(ended)["event"]["time"] == rfc3339(before)
        assert claims_for(ended)["iat"] > before.timestamp() + 86400  # when it was written down


@pytest.mark.parametrize(
    ("lists", "types"),
    [
        ({}, None),
        ({"required_attributes": [CUISINE]}, [CUISINE]),
        ({"required_attributes": [CUISINE], "optional_attributes": [DIET]}, [CUISINE, DIET]),
    ],
)
def test_a_refusal_names_what_was_asked(lists: dict[str, list[str]], types: list[str] | None) -> None:
    request = ConsentRequestFactory(**lists)
    decision_actions.deny(request_id=request.request_id, by=request.user)

    assert claims_for(request)["pii_types"] == (types or request.attributes)
    assert claims_for(request)["retention"] == {"access_duration": 86400, "expires_at": None}


def test_an_approval_tells_what_was_approved_for_as_long_as_it_was() -> None:
    request = ConsentRequestFactory()
    vault = give_vault(request.user)
    body = approval(request, vault, [CUISINE], access_duration=600)
    decision_actions.approve(request_id=request.request_id, by=request.user, body=body)

    receipt = claims_for(request)
    assert receipt["pii_types"] == [CUISINE]
    assert receipt["retention"] == {"access_duration": 600, "expires_at": rfc3339(request.grant.expires_at)}


HANDLING = {
    "recipients": "Our kitchen in Turku.\nNobody else.",
    "storage": {"location": "Data centre in Frankfurt, Germany", "retention": "30 days after the last visit"},
    "jurisdiction": "Finland",
}


def ask(app: App, user: User) -> ConsentRequest:
    """As the app asks: what its application says is kept with the request."""
    answer = Developer.of(app).post("/request-consent", request_body(user))
    assert answer.status_code == 201
    return ConsentRequest.objects.get(request_id=answer.json()["request_id"])


def handling(receipt: dict[str, Any]) -> dict[str, Any]:
    return {name: receipt[name] for name in HANDLING if name in receipt}


@pytest.mark.parametrize(
    ("stated", "named"),
    [
        (
            {
                "recipients": HANDLING["recipients"],
                "storage_place": "Data centre in Frankfurt, Germany",
                "retention": "30 days after the last visit",
                "jurisdiction": "Finland",
            },
            HANDLING,
        ),
        ({"retention": "30 days"}, {"storage": {"retention": "30 days"}}),
        ({}, {}),
    ],
)
def test_a_receipt_names_what_the_application_says_becomes_of_the_data(
    stated: dict[str, str], named: dict[str, Any]
) -> None:
    app = AppFactory(**{f"application__{name}": value for name, value in stated.items()})
    request = ask(app, give_vault(PersonFactory()).user)
    decision_actions.deny(request_id=request.request_id, by=request.user)

    receipt = Receipt.objects.get(request=request)
    assert [handling(claims(copy)) for copy in (receipt.jws, receipt.app_jws)] == [named, named]


def test_a_receipt_names_nothing_for_an_app_without_an_application() -> None:
    app = TestAppFactory()
    request = ask(app, give_vault(SandboxPersonFactory(app=app).user).user)
    decision_actions.deny(request_id=request.request_id, by=request.user)

    assert handling(claims_for(request)) == {}


def test_a_receipt_names_what_was_said_when_the_person_was_asked() -> None:
    app = AppFactory(application__jurisdiction="Finland")
    request = ask(app, give_vault(PersonFactory()).user)
    DeveloperApplication.objects.filter(app=app).update(jurisdiction="Atlantis", recipients="Everybody")
    decision_actions.deny(request_id=request.request_id, by=request.user)

    assert handling(claims_for(request)) == {"jurisdiction": "Finland"}


def test_what_waits_is_cancelled_where_the_application_says_something_else() -> None:
    app = AppFactory(application__recipients="Our kitchen")
    request = ask(app, give_vault(PersonFactory()).user)
    with changing_app(app_pk=app.pk, by=None):
        DeveloperApplication.objects.filter(app=app).update(recipients="Everybody")

    request.refresh_from_db()
    assert (request.status, request.decided_by) == ("cancelled", "staff")


def test_the_person_reads_it_on_the_request_and_on_the_receipt() -> None:
    app = AppFactory(application__recipients="Our <kitchen>", application__retention="30 days")
    request = ask(app, give_vault(PersonFactory()).user)
    client = signed_in(request.user).client

    request_page = client.get(f"/consent/requests/{request.request_id}/").content.decode()
    decision_actions.deny(request_id=request.request_id, by=request.user)
    proved = client.get(f"/consent/receipts/{Receipt.objects.get().receipt_id}/").content.decode()

    for page in (request_page, proved):
        assert "Our &lt;kitchen&gt;" in page
        assert "30 days" in page
        assert "Whose law applies" not in page
