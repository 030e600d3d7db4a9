"""The package as its users get it: a wheel in an empty environment, against the deployed service, which restarts."""

import asyncio
import json
import subprocess
import sys
import threading
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from consent_bridge.owner import Owner
from deploy.local import releasing
from tests.factories import PersonFactory, invitation_of
from tests.factories.accounts import PASSWORD
from tests.served_site import Served
from tests.system.bridge.hosts import bridge_environment, call, refused, with_bridge
from tests.system.bridge.steps import CUISINE, FOOD, PASSPHRASE, PURPOSE, SCOPE

MOST_MEGABYTES = 25  # that the package takes without extras, as installed and before anything is compiled


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, with its folder to itself."""
    place = tmp_path_factory.mktemp("wheel")
    releasing.build(place)
    [wheel] = place.glob("consent_bridge-0.1.0b1-*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(wheel):
    """`consent-bridge[mcp]` of the wheel in an environment that holds what the wheel declares and nothing else."""
    return install(wheel, "mcp")[0]


def install(wheel, extra):
    """The command in an environment of its own, and the names of what is there beside it."""
    place = wheel.parent / (extra or "core")
    venv.create(place, symlinks=True)
    python = place / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--python", python]
    subprocess.run([*pip, "install", "--no-deps", wheel], check=True, capture_output=True)
    return python.with_name("consent-bridge"), link_what_it_declares(python, extra)


def link_what_it_declares(python, extra):
    """Every dependency of the installed wheel, and theirs, from the environment of these tests; no network needed."""
    packages = Path(
        subprocess.check_output([python, "-c", "import site; print(site.getsitepackages()[0])"], text=True).strip()
    )
    [metadata] = packages.glob("consent_bridge-*.dist-info/METADATA")
    lines = [line.partition(": ")[2] for line in metadata.read_text().splitlines() if line.startswith("Requires-Dist")]
    waiting, linked = [(line, extra) for line in lines], set()
    while waiting:
        line, named = waiting.pop()
        requirement = Requirement(line)
        if requirement.name in linked or (requirement.marker and not requirement.marker.evaluate({"extra": named})):
            continue
        linked.add(requirement.name)
        found = distribution(requirement.name)
        assert requirement.specifier.contains(found.version, prereleases=True), f"{requirement}, not {found.version}"
        waiting += [(line, "") for line in found.requires or []]
        for top in {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}:
            if not (packages / top).exists():
                (packages / top).symlink_to(found.locate_file(top))
    return linked


def test_core_is_small_and_says_what_the_tool_server_needs(wheel):
    command, beside = install(wheel, "")
    named = [distribution(name) for name in [*beside, "consent-bridge"]]
    files = [Path(found.locate_file(file)) for found in named for file in found.files or () if file.suffix != ".pyc"]
    environment = {"CONSENT_BASE_URL": "http://localhost:9/api/v1", "CONSENT_DEVELOPER_TOKEN": "cr_live_x"}
    away, serve = (
        subprocess.run([command, word], capture_output=True, env=environment) for word in ("scopes", "serve")
    )

    assert not beside & {"mcp", "pydantic", "httpx2", "anyio"}
    assert sum(file.stat().st_size for file in files if file.is_file()) <= MOST_MEGABYTES * 1_000_000
    assert b"GET http://localhost:9/api/v1/scope-catalog failed: no connection" in away.stderr
    assert b"serve needs consent-bridge[mcp]" in serve.stderr


@pytest.fixture
def served(transactional_db, settings):
    made = Served(killable=True)
    settings.BASE_URL = settings.ISSUER = made.address
    made.start()
    yield made
    made.kill()
    made.close()


def test_wheel_needs_no_django(installed):
    python = installed.with_name("python")
    code = "import consent_bridge.server, consent_bridge.owner, consent_bridge.webhooks, importlib.util as u"
    done = subprocess.run([python, "-c", f"{code}; print(u.find_spec('django'))"], capture_output=True, text=True)

    assert (done.stdout.strip(), done.returncode) == ("None", 0), done.stderr


def test_config_of_the_wheel_starts_it_by_its_own_path(installed, tmp_path):
    environment = {"CONSENT_BASE_URL": "http://localhost:8000/api/v1", "CONSENT_BRIDGE_STATE": str(tmp_path)}
    printed = subprocess.run([installed, "config"], capture_output=True, check=True, env=environment, cwd="/")

    assert json.loads(printed.stdout)["mcpServers"]["consent"]["command"] == str(installed)


def test_wheel_makes_a_trip_over_two_restarts(installed, served, api, tmp_path):
    person = PersonFactory()
    invitation = invitation_of(person)
    environment = {**bridge_environment(tmp_path / "state", served.address, api.token), "PYTHONPATH": ""}

    def back_soon():
        served.kill()
        coming = threading.Thread(target=served.start)
        coming.start()
        return coming

    async def trip(client):
        owner = await asyncio.to_thread(owner_with_food, served.address, person)
        found = await call(client, "discover_user_scopes", user_id=invitation)
        coming = back_soon()
        made = await call(client, "request_consent", user_id=invitation, scope=SCOPE, purpose=PURPOSE)
        coming.join()
        await asyncio.to_thread(
            lambda: owner.approve(owner.review(made["request_id"]), attributes=[CUISINE], invited=True)
        )
        coming = back_soon()
        status = await call(client, "check_consent_status", request_id=made["request_id"])
        coming.join()
        opened = await call(client, "read_approved_data", request_id=made["request_id"])
        served.kill()
        away = await refused(client, "end_consent", request_id=made["request_id"])
        owner.close()
        return found, status, opened, away

    (found, status, opened, away), log = with_bridge(environment, trip, command=(str(installed),))

    assert SCOPE in found["scopes"]
    assert status["status"] == "approved"
    assert opened["data"] == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
    assert (away["code"], away["status"]) == ("service_unreachable", 503)
    assert api.token not in log


def owner_with_food(url, person):
    owner = Owner(url)
    owner.sign_in(person.email, PASSWORD)
    owner.create_vault(PASSPHRASE)
    owner.write("lifestyle", "food", FOOD, base=0)
    return owner
