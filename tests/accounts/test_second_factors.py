"""Second factors at rest: sealed, opened under any of the server's keys, and brought under the newest."""

import pytest
from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from common.encryption import Unreadable
from tests.callers import signed_in
from tests.staff import confirm, give_second_factor
from tests.totp import totp_code

SEED = "0f" * 40


def test_codes_are_taken_after_a_new_key_came_first(person, settings):
    secret = give_second_factor(person)
    settings.DATA_ENCRYPTION_KEYS = [Fernet.generate_key().decode(), *settings.DATA_ENCRYPTION_KEYS]
    confirm(signed_in(person).client, secret)


def test_an_old_key_can_go_once_everything_is_under_the_newest(person, settings, capsys):
    secret = give_second_factor(person)
    newest = Fernet.generate_key().decode()
    settings.DATA_ENCRYPTION_KEYS = [newest, *settings.DATA_ENCRYPTION_KEYS]
    call_command("seal_second_factors")
    assert capsys.readouterr().out == "Second factors under the newest key: 1\n"
    settings.DATA_ENCRYPTION_KEYS = [newest]
    confirm(signed_in(person).client, secret)


def test_a_factor_whose_key_is_gone_signs_nobody_in(person, settings):
    secret = give_second_factor(person)
    page = signed_in(person).client
    settings.DATA_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    with pytest.raises(Unreadable):
        Authenticator.objects.get().wrap().validate_code(totp_code(secret))
    assert page.get("/vault/keys").status_code == 401  # nor is a session taken that cannot be opened


def test_rows_in_clear_are_sealed_by_the_command(person, settings):
    Authenticator.objects.create(user=person, type="totp", data={"secret": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"})
    kept = {"seed": SEED, "used_mask": 5, "viewed_at": 12.5}
    Authenticator.objects.create(user=person, type="recovery_codes", data=kept)
    passkey = Authenticator.objects.create(user=person, type="webauthn", data={"name": "Key", "credential": {"a": 1}})
    call_command("seal_second_factors")
    totp, codes = Authenticator.objects.get(type="totp"), Authenticator.objects.get(type="recovery_codes")
    assert "JBSWY3DP" not in str(totp.data)
    assert SEED not in str(codes.data)
    assert (codes.data["used_mask"], codes.data["viewed_at"]) == (5, 12.5)
    assert Authenticator.objects.get(pk=passkey.pk).data == passkey.data
    confirm(signed_in(person).client, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")


@pytest.mark.django_db(transaction=True)
def test_upgrade_seals_factors_and_ends_sessions_in_clear(person):
    secret = give_second_factor(person)
    try:
        MigrationExecutor(connection).migrate([("accounts", "0002_user_language")])
        assert Authenticator.objects.values_list("data", flat=True).get() == {"secret": secret}
        with connection.cursor() as cursor:
            for table in ("django_session", "usersessions_usersession"):
                cursor.execute(f"CREATE TABLE {table} (session_key varchar(40), user_id bigint)")
                cursor.execute(f"INSERT INTO {table} (session_key) VALUES ('in-clear')")
            cursor.execute(
                "INSERT INTO django_migrations (app, name, applied) VALUES ('sessions', '0001_initial', '2026-01-01')"
            )
            cursor.execute("INSERT INTO django_content_type (app_label, model) VALUES ('usersessions', 'usersession')")
    finally:
        MigrationExecutor(connection).migrate(MigrationExecutor(connection).loader.graph.leaf_nodes())

    tables = connection.introspection.table_names()
    assert "sessions" in tables
    assert not {"django_session", "usersessions_usersession"} & set(tables)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM django_migrations WHERE app IN ('sessions', 'usersessions')")
        assert cursor.fetchone() == (0,)
        cursor.execute("SELECT count(*) FROM django_content_type WHERE app_label = 'usersessions'")
        assert cursor.fetchone() == (0,)
    assert secret not in str(Authenticator.objects.values_list("data", flat=True).get())
    confirm(signed_in(person).client, secret)
