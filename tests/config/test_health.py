"""Whether a process can do its work: each part by itself, and none of it is told to strangers in detail."""

import pytest
from django.db import ProgrammingError, connection
from django.test import Client

from consent.models import AuditEntry, AuditHead
from tests.consent.api.test_failing import failing

pytestmark = pytest.mark.django_db
PARTS = ("database", "migrations", "audit", "broker")


def test_ready_and_nothing_is_left_behind() -> None:
    answer = Client().get("/readyz")

    assert (answer.status_code, answer.json()["checks"]) == (200, dict.fromkeys(PARTS, True))
    assert not AuditEntry.objects.exists()
    assert not AuditHead.objects.exists()


@pytest.mark.parametrize("words", ['INSERT INTO "consent_audit"', "INTO consent_audit_heads"])
def test_an_audit_that_cannot_be_written_is_not_ready(words: str) -> None:
    with connection.execute_wrapper(failing(words, error=ProgrammingError)):
        answer = Client().get("/readyz")

    assert (answer.status_code, answer.json()["checks"]["audit"]) == (503, False)
    assert "10.0.0.7" not in answer.content.decode()


def test_a_rule_that_is_gone_is_not_ready() -> None:
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
        assert "consent_audit" in names
        cursor.execute(
            "DROP TRIGGER consent_audit_no_update" + (" ON consent_audit" if connection.vendor == "postgresql" else "")
        )
    answer = Client().get("/readyz")

    assert (answer.status_code, answer.json()["checks"]["audit"]) == (503, False)


def test_alive_whatever_the_database_does() -> None:
    with connection.execute_wrapper(failing()):
        assert Client().get("/livez").status_code == 200
        assert Client().get("/readyz").status_code == 503


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/docs/errors", "/docs/security/", "/api/docs/"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_another_method_needs_no_token_to_be_told_so(path: str, method: str) -> None:
    answer = Client(enforce_csrf_checks=True).generic(method, path)

    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")
