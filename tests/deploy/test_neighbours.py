"""What `./run` starts beside the server: on which ports, with which variables, and what of it can be left out."""

import socket
from pathlib import Path

import pytest

from deploy.local import neighbours, reference
from deploy.local.serving import free_port

OURS = (
    *reference.VARIABLES.values(),
    "AGGREGATOR_BASE_URL",
    "AGENT_MESSAGING_URL",
    "NEIGHBOURHOOD",
    "REFERENCE_AGENTS",
    "PROFILE",
)
SERVER = "http://localhost:8000"


@pytest.fixture(autouse=True)
def _nothing_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (
        *OURS,
        "AGGREGATOR_CLIENT_ID",
        "AGGREGATOR_SECRET",
        "AGENT_MESSAGING_REPORT_SECRET",
        "WEBHOOK_INTERNAL_ADDRESSES",
        "HOST",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(neighbours, "VAR", tmp_path)


def test_everything_is_started_for_an_environment_that_names_nothing() -> None:
    found = neighbours.find(port := free_port(), SERVER)

    assert set(found.commands) == {"agents", "neighbourhood"}
    assert set(found.addresses) == {"overview", "aggregator", "crm", "gateway"}
    assert found.shows_profiles
    assert found.env["AGENT_MESSAGING_URL"] == f"{found.addresses['gateway']}/messages"
    assert found.env["AGGREGATOR_BASE_URL"] == found.addresses["aggregator"]
    assert str(port) in " ".join(found.commands["neighbourhood"])


@pytest.mark.parametrize(("host", "allowed"), [("", "true"), ("localhost", "true"), ("0.0.0.0", None)])
def test_apps_may_name_this_machine_only_where_nobody_else_reaches_the_server(
    monkeypatch: pytest.MonkeyPatch, host: str, allowed: str | None
) -> None:
    monkeypatch.setenv("HOST", host)

    found = neighbours.find(free_port(), SERVER)

    assert found.env.get("WEBHOOK_INTERNAL_ADDRESSES") == allowed


def test_a_port_that_is_taken_is_passed_over() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", taken := free_port()))
        holder.listen()

        found = neighbours.find(taken - 1, SERVER)

    assert found.addresses["overview"] != f"http://127.0.0.1:{taken}"
    assert len(set(found.addresses.values())) == 4


def test_credentials_are_made_once_and_readable_by_their_owner_alone(tmp_path: Path) -> None:
    first, second = neighbours.find(free_port(), SERVER), neighbours.find(free_port(), SERVER)

    assert first.env["AGGREGATOR_SECRET"] == second.env["AGGREGATOR_SECRET"]
    assert (tmp_path / "neighbourhood" / "credentials.json").stat().st_mode & 0o077 == 0


def test_what_the_environment_names_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGGREGATOR_BASE_URL", "https://aggregator.example")
    monkeypatch.setenv("AGENT_MESSAGING_URL", "https://messages.example/a2a")
    monkeypatch.setenv("AGENT_CORE_URL", "https://agents.example/core")

    found = neighbours.find(free_port(), SERVER)

    assert set(found.addresses) == {"overview", "crm"}
    assert not {"AGGREGATOR_BASE_URL", "AGENT_MESSAGING_URL", "AGENT_CORE_URL"} & found.env.keys()
    assert "core=https://agents.example/core" in found.commands["neighbourhood"]
    assert not found.shows_profiles


def test_an_own_report_secret_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_MESSAGING_REPORT_SECRET", "whsec_b3du")

    assert neighbours.find(free_port(), SERVER).env["AGENT_MESSAGING_REPORT_SECRET"] == "whsec_b3du"


@pytest.mark.parametrize(
    ("off", "commands"),
    [({"NEIGHBOURHOOD": "false"}, {"agents"}), ({"REFERENCE_AGENTS": "off"}, {"neighbourhood"}),
     ({"NEIGHBOURHOOD": "0", "REFERENCE_AGENTS": "no"}, set()),
     ({"PROFILE": "small"}, set()), ({"PROFILE": "small", "REFERENCE_AGENTS": "true"}, {"agents"})],
)  # fmt: skip
def test_switched_off(monkeypatch: pytest.MonkeyPatch, off: dict[str, str], commands: set[str]) -> None:
    for name, value in off.items():
        monkeypatch.setenv(name, value)

    found = neighbours.find(free_port(), SERVER)

    assert set(found.commands) == commands
    assert not found.shows_profiles
