"""How many queries each address makes: the hot reads two in all, the token's own join among them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.callers import Developer
from tests.consent.api.addresses import request_body
from tests.factories import (
    AuditChainFactory,
    AuditEntryFactory,
    ConsentRequestFactory,
    ExportFactory,
    ListedPersonFactory,
    ReceiptFactory,
    Vault,
    known_as,
)

Call = Callable[[], Any]


def status(api: Developer, vault: Vault) -> Call:
    request = ExportFactory(grant__request__app=api.app).grant.request
    return lambda: api.get("/consent-status", request_id=request.request_id)


def status_by_pair(api: Developer, vault: Vault) -> Call:
    request = ConsentRequestFactory(app=api.app)
    return lambda: api.get("/consent-status", user_id=request.pairwise_id, scope=request.scope)


def user_scopes(api: Developer, vault: Vault) -> Call:
    user_id = known_as(api.app, vault.user)
    return lambda: api.get(f"/user-scopes/{user_id}")


def scope_catalog(api: Developer, vault: Vault) -> Call:
    return lambda: api.get("/scope-catalog")


def people(api: Developer, vault: Vault) -> Call:
    for _ in range(5):
        ListedPersonFactory()
    return lambda: api.get("/people", query="zoe")


def consent_requests(api: Developer, vault: Vault) -> Call:
    for _ in range(5):
        ExportFactory(grant__request__app=api.app)
    return lambda: api.get("/consent-requests")


def export(api: Developer, vault: Vault) -> Call:
    request = ExportFactory(grant__request__app=api.app).grant.request
    AuditEntryFactory(
        chain=AuditChainFactory(subject=f"person:{request.user.public_id}").chain
    )  # as its approval leaves it
    return lambda: api.get("/consent-export", request_id=request.request_id)


def receipt(api: Developer, vault: Vault) -> Call:
    made = ReceiptFactory(request__app=api.app)
    return lambda: api.get(f"/receipts/{made.receipt_id}")


def unknown_request(api: Developer, vault: Vault) -> Call:
    return lambda: api.get("/consent-status", request_id="req_nothing")


def bad_token(api: Developer, vault: Vault) -> Call:
    return lambda: api.get("/consent-status", headers={"Authorization": "Bearer \x00"})


def ask(api: Developer, vault: Vault) -> Call:
    body = request_body(vault.user)
    return lambda: api.post("/request-consent", body)


def end(api: Developer, vault: Vault) -> Call:
    request = ConsentRequestFactory(app=api.app)
    return lambda: api.post("/end-consent", {"request_id": request.request_id})


# PostgreSQL reads its clock with a query where SQLite's clock is this process's own
@pytest.mark.parametrize(
    ("prepare", "most"),
    [
        (status, 2),
        (status_by_pair, 2),
        (user_scopes, 2),
        (scope_catalog, 2),
        (people, 4),  # the fourth keeps for those people that they were found
        (consent_requests, 3),
        (receipt, 2),
        (unknown_request, 2),
        (bad_token, 0),
        (export, 8),
        (ask, 12),
        (end, 36),  # both chains are new here: two queries each name them; and both entries wait for the log, one each
    ],
)
def test_an_address_makes_no_more_queries_than_this(
    prepare: Callable[[Developer, Vault], Call], most: int, api: Developer, vault: Vault
) -> None:
    call = prepare(api, vault)
    api.get(
        f"/user-scopes/{known_as(api.app, vault.user)}"
    )  # the token's use and the day's first discovery are written down

    with CaptureQueriesContext(connection) as made:
        answer = call()

    assert answer.status_code in (200, 201, 401, 404), answer.content
    assert len(made) <= most, "\n".join(query["sql"] for query in made)


def test_a_longer_list_makes_no_more_queries(api: Developer) -> None:
    counts = []
    for _ in range(2):
        for _ in range(3):
            ExportFactory(grant__request__app=api.app)
        api.get("/consent-requests")
        with CaptureQueriesContext(connection) as made:
            api.get("/consent-requests")
        counts.append(len(made))

    assert counts[0] == counts[1]
