"""Second factors at rest: sealed, opened under any of the server's keys, and brought under the newest."""

import pytest
from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet
from django.core.management import call_command

from common.encryption import DecryptionFailed, opened, sealed
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
    with pytest.raises(DecryptionFailed):
        Authenticator.objects.get().wrap().validate_code(totp_code(secret))
    assert page.get("/vault/keys").status_code == 401  # nor is a session taken that cannot be opened


def test_every_secret_of_a_row_is_brought_under_the_newest_key_and_nothing_else(person, settings):
    kept = {"seed": sealed(SEED), "used_mask": 5, "viewed_at": 12.5}
    Authenticator.objects.create(user=person, type="recovery_codes", data=kept)
    passkey = Authenticator.objects.create(user=person, type="webauthn", data={"name": "Key", "credential": {"a": 1}})
    settings.DATA_ENCRYPTION_KEYS = [Fernet.generate_key().decode(), *settings.DATA_ENCRYPTION_KEYS]
    call_command("seal_second_factors")
    settings.DATA_ENCRYPTION_KEYS = settings.DATA_ENCRYPTION_KEYS[:1]
    codes = Authenticator.objects.get(type="recovery_codes").data
    assert {**codes, "seed": opened(codes["seed"])} == {**kept, "seed": SEED}
    assert Authenticator.objects.get(pk=passkey.pk).data == passkey.data
