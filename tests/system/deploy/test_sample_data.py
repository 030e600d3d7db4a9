"""`manage.py sample_data` leaves people who can sign in and a vault that opens, whatever database it meets."""

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.apps import apps
from django.core.management import call_command, get_commands
from django.utils import timezone

from agents_proxy.processing_consent.identifiers import verified_by
from common.encryption import opened
from common.identifiers import secret_digest
from consent_bridge import sealed
from developers.authentication import find_token
from pkm.vault import queries as vault_queries
from tests.visitor import Visitor

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def var(settings: Any, tmp_path: Path) -> Path:
    settings.VAR = tmp_path
    return tmp_path


def made(var: Path) -> dict[str, Any]:
    call_command("sample_data")
    return json.loads((var / "sample.json").read_text())


def opens(owner: dict[str, str]) -> bool:
    user = apps.get_model("accounts.User").objects.get(email=owner["email"])
    assert user.check_password(owner["password"])
    vault = vault_queries.vault_keys(user)
    (jwe,) = (each["jwe"] for each in vault["wrappers"] if each["kind"] == "passphrase")
    key = sealed.unwrap(jwe, "passphrase", owner["passphrase"], user_id=user.public_id, key_id=vault["key_id"])
    return key.key_id == vault["key_id"]


def test_everyone_it_names_exists_and_the_vault_opens(var: Path) -> None:
    sample = made(var)
    users = apps.get_model("accounts.User").objects
    assert opens(sample["owner"])
    assert users.get(email=sample["staff"]["email"]).check_password(sample["staff"]["password"])
    assert users.get(email=sample["developer"]["email"]).check_password(sample["developer"]["password"])


def opens_the_admin(staff: dict[str, str], service: str) -> bool:
    visitor = Visitor(service)
    visitor.sign_in(staff["email"], staff["password"], secret=staff["totp_secret"])
    return visitor.page("/admin/").url == f"{service}/admin/"


@pytest.mark.django_db(transaction=True)
def test_the_member_of_staff_opens_the_admin_with_the_codes_of_its_secret(var: Path, service: str) -> None:
    assert opens_the_admin(made(var)["staff"], service)


@pytest.mark.django_db(transaction=True)
def test_the_sample_of_an_older_clone_gets_a_second_factor(var: Path, service: str) -> None:
    first = made(var)
    apps.get_model("mfa.Authenticator").objects.all().delete()
    del first["staff"]["totp_secret"]
    (var / "sample.json").write_text(json.dumps(first))
    second = made(var)
    assert second["staff"]["password"] == first["staff"]["password"]
    assert opens_the_admin(second["staff"], service)


def test_again_it_keeps_what_is_there(var: Path) -> None:
    assert made(var) == made(var)


def test_the_owner_has_a_verified_number_and_a_template_is_approved(var: Path) -> None:
    owner = made(var)["owner"]
    user = apps.get_model("accounts.User").objects.get(email=owner["email"])
    number = apps.get_model("agents_proxy.PhoneNumber").objects.get(verified_at__isnull=False)
    template = apps.get_model("agents_proxy.MessageTemplate").objects.get(active=True)

    assert verified_by(user.pk).phone_numbers == (owner["phone_number"],)
    assert opened(number.number) == owner["phone_number"]
    assert template.approved_by.is_staff
    assert template.approved_by != template.proposed_by


def test_the_analysis_is_about_the_owner_by_what_they_verified(var: Path) -> None:
    sample = made(var)
    about = sample["analysis"]
    owner = verified_by(apps.get_model("accounts.User").objects.get(email=sample["owner"]["email"]).pk)

    assert owner.all == (about["email"], about["countryCode"] + about["phoneNumber"])


def test_somebody_new_takes_the_number_over(var: Path) -> None:
    made(var)
    (var / "sample.json").unlink()
    owner = made(var)["owner"]

    verified = apps.get_model("agents_proxy.PhoneNumber").objects.get(verified_at__isnull=False)
    assert verified.user.email == owner["email"]


def test_the_file_says_where_the_programs_beside_are_and_a_passing_trip_leaves_that(var: Path) -> None:
    def file() -> dict[str, Any]:
        return json.loads((var / "sample.json").read_text())

    call_command("sample_data", neighbourhood={"crm": "http://127.0.0.1:1"})
    call_command("sample_data", neighbourhood={"crm": "http://127.0.0.1:2"}, keep_address=True)
    passing = file()
    call_command("sample_data", neighbourhood={"crm": "http://127.0.0.1:3"})

    assert passing["analysis"]["fullName"] == "Mara Lindholm"
    assert passing["neighbourhood"] == {"crm": "http://127.0.0.1:1"}
    assert file()["neighbourhood"] == {"crm": "http://127.0.0.1:3"}


def test_the_developer_has_a_test_app_and_valid_tokens(var: Path) -> None:
    developer = made(var)["developer"]
    live, test = find_token(developer["token"]), find_token(developer["test_token"])
    row = apps.get_model("developers.ManagementToken").objects.get(digest=secret_digest(developer["management_token"]))

    assert live
    assert not live.is_test
    assert live.app_id == developer["app_id"]
    assert test
    assert test.is_test
    assert test.app_id == developer["test_app_id"]
    assert row.user.email == developer["email"]
    assert row.permissions == {"*": ["read", "write"]}
    assert timedelta(days=89) < row.expires_at - timezone.now() <= timedelta(days=90)


def test_the_file_of_an_older_clone_gains_the_test_app(var: Path) -> None:
    first = made(var)
    for name in ("test_app_id", "test_token", "management_token"):
        del first["developer"][name]
    (var / "sample.json").write_text(json.dumps(first))

    developer = made(var)["developer"]

    assert developer["app_id"] == first["developer"]["app_id"]
    assert (found := find_token(developer["test_token"]))
    assert found.app_id == developer["test_app_id"]
    assert apps.get_model("developers.App").objects.filter(mode="test").count() == 1


def test_a_management_token_near_its_end_is_made_anew(var: Path) -> None:
    first = made(var)["developer"]
    apps.get_model("developers.ManagementToken").objects.update(expires_at=timezone.now() + timedelta(days=1))

    second = made(var)["developer"]

    assert second["management_token"] != first["management_token"]
    assert second["test_token"] == first["test_token"]


@pytest.mark.parametrize("lost", ["its file", "the server's keys"])
def test_without_what_opens_it_somebody_new_begins(var: Path, settings: Any, lost: str) -> None:
    first = made(var)
    if lost == "its file":
        (var / "sample.json").unlink()
    else:
        settings.DATA_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    second = made(var)
    assert second["owner"]["user_id"] != first["owner"]["user_id"]
    assert opens(second["owner"])
    factor = apps.get_model("mfa.Authenticator").objects.get(user__email=second["staff"]["email"])
    assert opened(factor.data["secret"]) == second["staff"]["totp_secret"]


@pytest.mark.parametrize("missing", ["consent_bridge", "deploy"])
def test_a_server_without_the_bridge_or_this_folder_starts_and_has_no_such_command(missing: str) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None; import django; django.setup(); import config.urls;"
        "from django.core.management import get_commands;"
        "print('check' in get_commands(), 'sample_data' in get_commands())"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True False\n", "")


def test_it_is_there_where_both_are() -> None:
    assert get_commands()["sample_data"] == "deploy.sample_data"
