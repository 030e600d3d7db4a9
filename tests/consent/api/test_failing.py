"""What is told when the database is away, the audit chain cannot be written, or we made a mistake (contract 1.7)."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, OperationalError, ProgrammingError, connection
from django.test import Client

from consent.requests.models import ConsentRequest
from tests.callers import Developer
from tests.consent.api.addresses import ADDRESSES, Address, name_of, problem
from tests.factories import ConsentRequestFactory, ExportFactory

Execute = Callable[..., Any]


def failing(*words: str, error: type[DatabaseError] = OperationalError) -> Execute:
    """A wrapper around the database that fails on statements with one of these words, as a lost connection does."""

    def execute(run: Execute, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        if not words or any(word.replace('"', "") in sql.replace('"', "") for word in words):
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


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no standby")
@pytest.mark.parametrize("address", ADDRESSES, ids=name_of)
def test_a_database_that_can_only_be_read_refuses_for_a_while(address: Address, api: Developer) -> None:
    """A standby that was not promoted yet, or a server on its way to another machine."""
    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")

    answer = address.call(api)

    if answer.status_code >= 400:
        assert (answer.status_code, int(answer["Retry-After"]) > 0) == (503, True), answer.content


@pytest.mark.parametrize(
    "words", ['INSERT INTO "consent_audit"', 'INTO "consent_receipts"', "INTO consent_notice_counters"]
)
@pytest.mark.parametrize("error", [OperationalError, ProgrammingError])
def test_an_end_takes_place_even_where_it_cannot_be_written_down(
    api: Developer, words: str, error: type[DatabaseError]
) -> None:
    """A missing privilege, a full disk: whatever it is, an app that lets go has let go (decision 0016)."""
    request = ConsentRequestFactory(app=api.app)

    with connection.execute_wrapper(failing(words, error=error)):
        answer = api.post("/end-consent", {"request_id": request.request_id})

    body = answer.json()
    assert (answer.status_code, body["status"]) == (200, "cancelled")
    assert (body["receipt_id"] is None) == (words != "INTO consent_notice_counters")
    assert ConsentRequest.objects.get().status == "cancelled"


def test_an_end_without_a_database_is_none(api: Developer) -> None:
    """Nothing can be kept: neither the entry nor that it waits."""
    request = ConsentRequestFactory(app=api.app)

    with connection.execute_wrapper(failing("UPDATE", "SAVEPOINT")):
        answer = api.post("/end-consent", {"request_id": request.request_id})

    assert problem(answer) == (503, "temporarily_unavailable")
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

    monkeypatch.setattr("consent.discovery.queries.scope_catalog", lambda: broken())
    careless = Developer(Client(raise_request_exception=False), "/api/v1", api.headers)

    answer = careless.get("/scope-catalog")

    assert problem(answer) == (500, "internal_error")
    for detail in ("secret", "ZeroDivision", "Traceback", "Django", ".py"):
        assert detail not in answer.content.decode()
