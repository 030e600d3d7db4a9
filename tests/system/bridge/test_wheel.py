"""The package as its users get it: a wheel in an empty environment, against the deployed service, which restarts."""

import asyncio
import json
import shutil
import subprocess
import sys
import threading
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from consent_bridge.owner import Owner
from tests.factories import PersonFactory, invitation_of
from tests.factories.accounts import PASSWORD
from tests.served_site import Served
from tests.system.bridge.hosts import bridge_environment, call, refused, with_bridge
from tests.system.bridge.steps import CUISINE, FOOD, PASSPHRASE, PURPOSE, SCOPE

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """`consent-bridge` of the wheel in an environment that holds what the wheel declares and nothing else."""
    place = tmp_path_factory.mktemp("wheel")
    source = place / "source"
    shutil.copytree(ROOT / "bridge", source, ignore=shutil.ignore_patterns("build", "*.egg-info", ".*", "__pycache__"))
    run = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", place]
    subprocess.run([*run, "wheel", *options, source], check=True, capture_output=True)
    [wheel] = place.glob("consent_bridge-0.1.0b1-*.whl")
    venv.create(place / "venv", symlinks=True)
    python = place / "venv" / "bin" / "python"
    subprocess.run([*run, "--python", python, "install", "--no-deps", wheel], check=True, capture_output=True)
    link_what_it_declares(python)
    return python.with_name("consent-bridge")


def link_what_it_declares(python):
    """Every dependency of the installed wheel, and theirs, from the environment of these tests; no network needed."""
    packages = Path(
        subprocess.check_output([python, "-c", "import site; print(site.getsitepackages()[0])"], text=True).strip()
    )
    [metadata] = packages.glob("consent_bridge-*.dist-info/METADATA")
    lines = [line.partition(": ")[2] for line in metadata.read_text().splitlines() if line.startswith("Requires-Dist")]
    waiting, linked = lines, set()
    while waiting:
        requirement = Requirement(waiting.pop())
        if requirement.name in linked or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        linked.add(requirement.name)
        found = distribution(requirement.name)
        assert requirement.specifier.contains(found.version, prereleases=True), f"{requirement}, not {found.version}"
        waiting += found.requires or []
        for top in {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}:
            if not (packages / top).exists():
                (packages / top).symlink_to(found.locate_file(top))


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
        asked = await call(client, "request_consent", user_id=invitation, scope=SCOPE, purpose=PURPOSE)
        coming.join()
        await asyncio.to_thread(
            lambda: owner.approve(owner.review(asked["request_id"]), attributes=[CUISINE], invited=True)
        )
        coming = back_soon()
        status = await call(client, "check_consent_status", request_id=asked["request_id"])
        coming.join()
        opened = await call(client, "read_approved_data", request_id=asked["request_id"])
        served.kill()
        away = await refused(client, "end_consent", request_id=asked["request_id"])
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
