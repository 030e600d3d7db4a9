"""Migration 0019: a database of either form of 0017 gets the column, filled and with a default."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from consent.approvals.models import ApprovalKey
from tests.factories import ApprovalKeyFactory

BEFORE, AFTER = ("consent", "0019_frozen_approvals"), ("consent", "0020_issuer_of_keys")


@pytest.fixture
def _all_applied_again(transactional_db: None) -> Iterator[None]:
    """Whatever came after these two is there for the tests that follow in this process."""
    yield
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


@pytest.mark.parametrize("has_column", [True, False])
@pytest.mark.usefixtures("_all_applied_again")
def test_the_address_of_a_key_is_added_and_need_not_be_given(has_column: bool) -> None:
    before: Any = ApprovalKeyFactory(issuer="")
    MigrationExecutor(connection).migrate([BEFORE])
    if not has_column:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE approval_keys DROP COLUMN issuer")

    MigrationExecutor(connection).migrate([AFTER])

    assert ApprovalKey.objects.get(pk=before.pk).issuer == settings.ISSUER
    columns = "public_key, root, history, is_reset, created_at, updated_at, app_id, user_id"
    with connection.cursor() as cursor:  # as the release before writes it
        cursor.execute("DELETE FROM approval_keys")
        cursor.execute(
            f"INSERT INTO approval_keys ({columns}) VALUES ('{{}}', %s, '[]', %s, %s, %s, %s, %s)",
            [before.root, False, before.created_at, before.updated_at, before.app_id, before.user_id],
        )
    assert ApprovalKey.objects.get().issuer == ""
