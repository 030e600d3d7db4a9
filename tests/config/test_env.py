"""What is set wrong is named, and nothing starts; what is left empty is as if it were not there."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env
from config.checks import check_names


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda name: env.origin(name, ""), "consent.example"),
        (lambda name: env.origin(name, ""), "ftp://consent.example"),
        (lambda name: env.origin(name, ""), "https://Consent.example"),
        (lambda name: env.origin(name, ""), "https://consent.example/path"),
        (lambda name: env.origin(name, ""), "https://consent.example:abc"),
        (lambda name: env.sender(name, ""), "nobody"),
        (lambda name: env.database(name, ""), "nonsense"),
        (lambda name: env.database(name, ""), "mysql://user:secret@db/consent"),
        (lambda name: env.database(name, ""), "postgres://user:secr#et@db:5432/consent"),
        (env.email, "nonsense"),
        (env.email, "smtp://user:secr/et@mail:587"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[str], object], value: str
) -> None:
    monkeypatch.setenv("A_SETTING", value)

    with pytest.raises(ImproperlyConfigured, match=r"^A_SETTING must be ") as refused:
        read("A_SETTING")

    assert "secr" not in str(refused.value)


def test_a_file_of_keys_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYS_FILE", "/nowhere/keys.json")

    with pytest.raises(ImproperlyConfigured, match=r"^KEYS_FILE cannot be read: /nowhere/keys\.json: No such file"):
        env.secret_json("KEYS", "")


def test_what_is_left_empty_as_in_the_example_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SETTING", "")

    assert env.text("A_SETTING", "ours") == "ours"
    assert env.names("A_SETTING", "one,two") == ["one", "two"]
    assert env.origin("A_SETTING", "https://consent.example/") == "https://consent.example"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("ALOWED_HOSTS", "ALLOWED_HOSTS"),
        ("AGENT_CORE_PROFLE_URL", "AGENT_CORE_PROFILE_URL"),
        ("SIGNIN_FAILURES", "SIGN_IN_FAILURES"),
        ("KUBERNETES_SERVICE_HOST", None),
        ("POSTGRES_PASSWORD", None),
        ("TEST_DATABASE_URL", None),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", None),
    ],
)
def test_a_misspelt_variable_is_named_and_anothers_is_not(
    monkeypatch: pytest.MonkeyPatch, name: str, meant: str | None
) -> None:
    monkeypatch.setenv(name, "canary")

    found = [message.msg for message in check_names() if name in message.msg]

    assert found == ([f"{name} is set, and this service reads {meant}."] if meant else [])


@pytest.mark.parametrize(("allowed", "expected"), [(["consent.example"], []), (["other.example"], ["config.W006"])])
def test_a_site_that_refuses_its_own_name_is_told(settings: Any, allowed: list[str], expected: list[str]) -> None:
    settings.BASE_URL, settings.ALLOWED_HOSTS = "https://consent.example:8443", allowed

    assert [message.id for message in check_names() if message.id == "config.W006"] == expected
