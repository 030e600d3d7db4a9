"""What is told when the database is away, the audit chain cannot be written, or we made a mistake (contract 1.7)."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, OperationalError, ProgrammingError, connection
from django.test import Client

from consent.models import ConsentRequest, Receipt
from tests.callers import Developer
from tests.consent.api.addresses import ADDRESSES, Address, name_of, problem
from tests.factories import ConsentRequestFactory, ExportFactory

Execute = Callable[..., Any]


def failing(*words: str, error: type[DatabaseError] = OperationalError) -> Execute:
    """A wrapper around the database that fails on statements with one of these words, as a lost connection does."""

    def execute(run: Execute, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        if not words or any(word in sql for word in words):
            raise error("server closed the connection unexpectedly at 10.0.0.7")
        return run(sql, parameters, many, context)

    return execute


@pytest.mark.parametrize("address", ADDRESSES, ids=name_of)
def test_without_a_database_every_address_is_503(address: Address, api: Developer) -> None:
    with connection.execute_wrapper(failing()):
        answer = address.call(api)

    assert problem(answer) == (503, "temporarily_unavailable")
    assert int(answer["Retry-After"]) > 0
    assert "10.0.0.7" not in answer.content.decode()


def test_an_audit_that_cannot_be_written_stops_everything_else(api: Developer) -> None:
    request = ConsentRequestFactory(app=api.app)

    with connection.execute_wrapper(failing('INSERT INTO "consent_audit"')):
        answer = api.post("/end-consent", {"request_id": request.request_id})

    assert problem(answer) == (503, "temporarily_unavailable")
    assert ConsentRequest.objects.get().status == "pending"
    assert not Receipt.objects.exists()


@pytest.mark.parametrize(
    "words", ['INSERT INTO "consent_audit"', 'INTO "consent_receipts"', "INTO consent_notice_counters"]
)
def test_an_end_that_cannot_be_written_down_is_none(api: Developer, words: str) -> None:
    """A missing privilege, a broken rule: whatever it is, it is no defect of the caller's and nothing happened."""
    request = ConsentRequestFactory(app=api.app)

    with connection.execute_wrapper(failing(words, error=ProgrammingError)):
        answer = api.post("/end-consent", {"request_id": request.request_id})

    assert problem(answer) == (503, "temporarily_unavailable")
    assert int(answer["Retry-After"]) > 0
    assert ConsentRequest.objects.get().status == "pending"


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "k1"}])
def test_a_read_that_cannot_be_written_down_is_none(api: Developer, headers: dict[str, str]) -> None:
    grant = ExportFactory(grant__request__app=api.app).grant

    with connection.execute_wrapper(failing("INSERT INTO consent_reads", error=ProgrammingError)):
        answer = api.get(f"/consent-export?request_id={grant.request.request_id}", headers=headers)

    assert problem(answer) == (503, "temporarily_unavailable")
    assert "jwe" not in answer.json()
    grant.refresh_from_db()
    assert grant.reads == 0


def test_a_defect_tells_nothing_of_itself(api: Developer, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: Any) -> bytes:
        raise ZeroDivisionError("the secret ingredient")

    monkeypatch.setattr("consent.queries.scope_catalog", lambda: broken())
    careless = Developer(Client(raise_request_exception=False), "/api/v1", api.headers)

    answer = careless.get("/scope-catalog")

    assert problem(answer) == (500, "internal_error")
    for told in ("secret", "ZeroDivision", "Traceback", "Django", ".py"):
        assert told not in answer.content.decode()
