"""The keys of one machine: made once, kept to oneself, rotated without losing what the earlier ones open."""

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from consent_bridge.errors import KeyRefused
from consent_bridge.keyring import Keyring
from consent_bridge.keys import generate_connector_key, thumbprint
from tests.bridge.refusals import refusal

BRIDGE = Path(__file__).resolve().parents[2] / "bridge"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_key_is_made_once_and_only_its_user_reads_it(tmp_path):
    first = Keyring(tmp_path / "state").current()

    assert Keyring(tmp_path / "state").current() == first
    assert mode(tmp_path / "state") == 0o700
    assert mode(tmp_path / "state" / "connector-key.json") == 0o600


def test_two_that_start_at_once_agree_on_one_key(tmp_path):
    for place in (tmp_path / str(number) for number in range(40)):
        with ThreadPoolExecutor(8) as pool:
            keys = list(pool.map(lambda _, place=place: Keyring(place).current()["x"], range(8)))

        assert set(keys) == {Keyring(place).current()["x"]}
        assert len(list(place.iterdir())) == 1


def test_rotation_keeps_the_earlier_keys(tmp_path):
    ring = Keyring(tmp_path)
    first = ring.current()
    rotations = [ring.rotate(), ring.rotate("P-256")]
    second, third = rotations[0][1], rotations[1][1]

    assert [earlier for earlier, _ in rotations] == [thumbprint(first), thumbprint(second)]
    assert ring.current() == third
    assert [ring.find(thumbprint(key)) for key in (first, second, third)] == [first, second, third]
    assert {mode(path) for path in tmp_path.rglob("*.json")} == {0o600}
    assert third["crv"] == "P-256"


def test_rotation_without_a_key_makes_the_first(tmp_path):
    earlier, new = Keyring(tmp_path).rotate()

    assert (earlier, Keyring(tmp_path).current()) == (None, new)


def test_key_that_is_not_here_is_refused(tmp_path):
    ring = Keyring(tmp_path)
    ring.current()

    with pytest.raises(KeyRefused, match="not on this machine"):
        ring.find(thumbprint(generate_connector_key()))


def test_rotation_stops_at_a_key_that_it_cannot_read(tmp_path):
    path = tmp_path / "connector-key.json"
    path.write_text("{}")

    with pytest.raises(KeyRefused):
        Keyring(tmp_path).rotate()
    assert path.read_text() == "{}"


def test_users_own_key_file_takes_the_place_of_the_kept_one(tmp_path):
    chosen = tmp_path / "mine.jwk"
    chosen.write_text(json.dumps(generate_connector_key()))

    ring = Keyring(tmp_path / "state", chosen)
    assert ring.current() == json.loads(chosen.read_text())
    assert not (tmp_path / "state").exists()


def test_command_prints_only_what_is_public(cli, state):
    first = json.loads(cli("keygen").stdout)
    rotated = cli("rotate-key")
    printed = json.loads(rotated.stdout)

    assert printed["earlier_thumbprint"] == first["thumbprint"]
    assert set(printed["connector_public_key"]) == {"kty", "crv", "x"}
    secrets = [json.loads(path.read_text())["d"] for path in state.rglob("*.json")]
    assert [secret for secret in secrets if secret.encode() in rotated.stdout] == []
    assert len(secrets) == 2


def test_config_shows_how_a_host_starts_it(cli, state):
    environ = {"CONSENT_BASE_URL": "https://consent.example/api/v1/", "CONSENT_DEVELOPER_TOKEN": "cr_live_secret"}
    plain, full, pipx = (
        json.loads(cli("config", *options, **environ).stdout)["mcpServers"]["consent"]
        for options in ((), ("--with-token",), ("--pipx", str(BRIDGE)))
    )

    assert plain["env"] == {
        "CONSENT_BASE_URL": "https://consent.example/api/v1",
        "CONSENT_DEVELOPER_TOKEN": "<your developer token>",
        "CONSENT_BRIDGE_STATE": str(state),
    }
    assert plain["args"][-1] == "serve"
    assert full["env"]["CONSENT_DEVELOPER_TOKEN"] == "cr_live_secret"
    assert pipx["command"] == "pipx"
    assert pipx["args"] == ["run", "--spec", f"{BRIDGE}[mcp]", "consent-bridge", "serve"]


def test_config_for_pipx_needs_the_folder_of_the_package(cli, tmp_path):
    done = cli("config", "--pipx", str(tmp_path), CONSENT_BASE_URL="https://consent.example/api/v1/")

    assert "not the folder of consent-bridge" in refusal(done)


def test_config_without_an_address_says_what_is_missing(cli):
    done = cli("config")

    assert done.returncode == 1
    assert b"CONSENT_BASE_URL" in done.stderr
