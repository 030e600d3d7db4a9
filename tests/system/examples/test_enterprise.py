"""Every command of the page for enterprises, in its order, by curl against the real application."""

import json
import os
import re
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from agents_proxy.activations.models import Activation
from agents_proxy.deletions.models import Deletion
from agents_proxy.destinations.models import Destination
from deploy.local.serving import free_port
from developers.models import App
from tests.agents_proxy.agent_server import speaking
from tests.agents_proxy.forgetting import attempt, withdraw
from tests.agents_proxy.proxy_calls import AGREED, owning
from tests.callers import manager, signed_in
from tests.factories import AppFactory, MemberFactory, PersonFactory
from tests.patience import eventually
from tests.system.bridge.hosts import ROOT

PAGE = (ROOT / "docs" / "enterprise.md").read_text()
SNIPPETS = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
SITE = "https://trips.example"


@pytest.fixture
def agents(settings):
    with speaking() as found:
        nowhere = found.settings()["core"]
        settings.AGENTS = {
            **settings.AGENTS, **found.settings(), "core-profile": {**nowhere, "url": f"{found.address}/core-profile"},
        }  # fmt: skip
        found.replies = {
            "core-profile": {"full_name": "Ana Sá"}, "core": {"full_name": "Ana Sá"}, "public": {"city": "Faro"},
            "second": {"country": "Portugal"}, "brand": {"likes": ["tea"], "brand_affinities": ["Muji"]},
        }  # fmt: skip
        yield found


@pytest.fixture
def place(tmp_path, service, settings):
    """A folder with every snippet in a file of its name, and the environment that they run in."""
    settings.WEBHOOK_INTERNAL_ADDRESSES = True  # the receiver is on this machine
    for name, text in SNIPPETS.items():
        (tmp_path / name).write_text(text)
    app = AppFactory(name="Trip Planner", origins=[SITE])
    member = MemberFactory(app=app, user=PersonFactory()).user
    port = free_port()
    token = manager(member).headers["Authorization"].removeprefix("Bearer ")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {
        **os.environ, "PATH": path, "BASE_URL": service, "MANAGEMENT_TOKEN": token, "APP_ID": app.app_id,
        "SITE": SITE, "CRM_URL": f"http://127.0.0.1:{port}/in",
    }  # fmt: skip
    return tmp_path, environment, port


def run(folder, environment, script):
    """What a script printed; it has to succeed."""
    done = subprocess.run(
        ["bash", "-e", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, f"{script}: {done.stdout}\n{done.stderr}"
    return done.stdout


def agree(person, link):
    """What a person in front of the hosted page does; the token that their browser takes back."""
    parts = urlsplit(link)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    browser = signed_in(person).client
    assert "Trips CRM (127.0.0.1" in browser.get(parts.path, query).content.decode()
    answer = browser.post(parts.path, AGREED, query_params=query)
    [token] = parse_qs(urlsplit(answer["Location"]).fragment)["consent_token"]
    return token


def test_every_snippet_has_a_test_and_none_stands_outside():
    fenced = re.findall(r"^```(\w+)(.*)$", PAGE, re.MULTILINE)

    assert [kind for kind, name in fenced if not name.strip()] == ["text", "json", "json"]
    assert SNIPPETS.keys() == {
        "destination.sh", "link.sh", "profile.sh", "enrich.sh", "brand.sh", "analyse.sh", "activate.sh", "receive.py",
    }  # fmt: skip


def test_the_five_steps_by_curl(place, agents, transactional_db):
    folder, environment, port = place
    person = owning(PersonFactory(email="ana@example.org"), "+4917604069055")
    made = json.loads(run(folder, environment, "destination.sh"))
    environment["CONSENT_TOKEN"] = agree(person, run(folder, environment, "link.sh").strip())

    assert "Ana" in run(folder, environment, "profile.sh")
    enriched = run(folder, environment, "enrich.sh")
    assert "Faro" in enriched
    assert "Portugal" in enriched
    assert "Muji" in run(folder, environment, "brand.sh")
    analysis = json.loads(run(folder, environment, "analyse.sh"))
    assert analysis["status"] == "completed"
    assert analysis["profile"] == {
        "full_name": "Ana Sá", "city": "Faro", "country": "Portugal", "likes": ["tea"], "brand_affinities": ["Muji"],
    }  # fmt: skip

    with receiver(folder, environment, made["secret"], port) as crm:
        sending = json.loads(run(folder, environment, "activate.sh"))
        received = json.loads(crm.stdout.readline())
        withdraw(person)
        attempt()
    deletion = Deletion.objects.get(destination__isnull=False)
    assert (deletion.status, json.loads(deletion.confirmation)["deleted"]) == ("confirmed", 1)
    assert (sending["status"], sending["attempts"], sending["statusCode"]) == ("delivered", 1, 204)
    assert received == {
        "analysisId": analysis["analysisId"],
        "profile": {"fullName": "Ana Sá", "likes": ["tea"], "brand_affinities": ["Muji"]},
    }
    assert Activation.objects.get().consent.app == App.objects.get()
    page = signed_in(person).client.get("/profile/consent/given/").content.decode()
    assert "Trips CRM" in page
    assert "Trip Planner" in page


def test_the_receiver_refuses_what_somebody_else_signed(place, agents, transactional_db):
    folder, environment, port = place
    run(folder, environment, "destination.sh")
    person = owning(PersonFactory(email="ana@example.org"))
    environment["CONSENT_TOKEN"] = agree(person, run(folder, environment, "link.sh").strip())
    run(folder, environment, "analyse.sh")
    with receiver(folder, environment, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", port):
        script = SNIPPETS["activate.sh"].partition("for second")[0]
        (folder / "ask.sh").write_text(script)
        run(folder, environment, "ask.sh")

    waiting = Activation.objects.get()
    assert (waiting.status, waiting.status_code, waiting.error_code) == ("queued", 401, "refused")
    assert Destination.objects.get().disabled_at is None


@contextmanager
def receiver(folder, environment, secret, port):
    """The page's own receiver as a process, once it listens."""
    command = [sys.executable, str(folder / "receive.py"), str(port)]
    process = subprocess.Popen(
        command, env={**environment, "CRM_SECRET": secret}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with process:
        try:
            eventually(lambda: _listens(port), "a listening program")
            yield process
        finally:
            process.terminate()


def _listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
