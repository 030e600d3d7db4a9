"""`consent-bridge` as its own process: a browser lets it in, and what happens comes to a program of this machine."""

import json
import os
import subprocess
import sys
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest
import requests

from consent_bridge.sealed import generate_connector_key
from consent_bridge.webhooks import verify
from deploy.local.serving import free_port
from developers.models import App
from tests.factories import MemberFactory, TokenFactory, invitation_of
from tests.fakes.serving import Answering, serving
from tests.system.bridge.steps import FOOD, PURPOSE, SCOPE, ask
from tests.system.oauth.browser import Browser, opened_by_others
from tests.vouched import registered

BRIDGE = Path(__file__).parents[3] / "bridge"
OPENS = """
import os, sys, urllib.request as http
led = http.urlopen(http.Request(os.environ["PAGE"], sys.argv[1].encode())).read().decode()
http.urlopen(led).read()
"""


@pytest.fixture
def bridge(service, tmp_path):
    """Run a command as a process; the address that it prints is opened in the browser of `page`."""
    opens = tmp_path / "opens.py"
    opens.write_text(OPENS)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CONSENT_")}
    environ = {
        **kept,
        "PYTHONPATH": str(BRIDGE),
        "CONSENT_BRIDGE_STATE": str(tmp_path / "state"),
        "BROWSER": f"{sys.executable} {opens} %s &",  # a browser is not waited for
        "NO_PROXY": "*",
    }

    def run(*words, **more):
        command = [sys.executable, "-m", "consent_bridge", *words]
        return subprocess.run(command, env={**environ, **more}, capture_output=True, timeout=120, check=False)

    return run


@pytest.fixture
def token(api):
    return {"CONSENT_DEVELOPER_TOKEN": api.token}


def login(bridge, service, browser):
    with opened_by_others(browser) as page:
        done = bridge("login", "--base-url", f"{service}/api/v1", PAGE=page)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_member_lets_it_act_for_their_app(bridge, service, owner, person, tmp_path):
    app = TokenFactory(app__app_id="app_cli").app
    MemberFactory(app=app, user=person, role="member")
    made = json.loads(bridge("keygen").stdout)
    key_id = registered(app, jwk=made["connector_public_key"]).key_id

    allowed = login(bridge, service, Browser(service, person.email, app.app_id, may_read=True))
    catalogue = bridge("scopes", "--domain", "lifestyle", "--query", "food")
    done = bridge("request", invitation_of(person), SCOPE, "--purpose", PURPOSE, "--key-id", key_id)
    request_id = json.loads(done.stdout)["request_id"]
    owner.approve(owner.review(request_id), invited=True)
    read = bridge("read", request_id)

    assert allowed == {"base_url": f"{service}/api/v1", "scope": "discover request read"}
    assert {entry["domain"] for entry in json.loads(catalogue.stdout)["scope_entries"]} == {"lifestyle"}
    assert json.loads(read.stdout)["data"] == {"lifestyle": {"food": FOOD}}
    assert (tmp_path / "state" / "login.json").stat().st_mode & 0o777 == 0o600


def test_an_answer_of_another_server_or_to_another_question_is_not_taken(bridge, service, person, tmp_path):
    class Attacked(Browser):
        def allow(self, url):
            led = super().allow(url)
            callback, _, query = led.partition("?")
            requests.get(callback, {"state": "another", "code": "stolen"}, timeout=60)
            assert f"iss={quote(service, safe='')}" in query
            return led.replace(f"iss={quote(service, safe='')}", "iss=https%3A%2F%2Fevil.example")

    with opened_by_others(Attacked(service, person.email)) as page:
        done = bridge("login", "--base-url", f"{service}/api/v1", PAGE=page)

    assert done.returncode == 1
    assert b"the answer came from another authorization server" in done.stderr
    assert not (tmp_path / "state" / "login.json").exists()


def test_a_token_that_ends_is_renewed_and_logout_ends_both(bridge, service, person, tmp_path):
    login(bridge, service, Browser(service, person.email))
    path = tmp_path / "state" / "login.json"
    first = json.loads(path.read_text())
    path.write_text(json.dumps({**first, "access_token": "cr_oauth_gone", "expires_at": 0}))

    renewed = bridge("scopes")
    second = json.loads(path.read_text())
    left = bridge("logout")
    path.write_text(json.dumps(second))

    assert (renewed.returncode, left.returncode) == (0, 0)
    assert second["access_token"] not in ("cr_oauth_gone", first["access_token"])
    assert App.objects.get(mode="personal").person == person
    assert b"invalid_token (401)" in bridge("scopes").stderr


def test_what_happens_is_forwarded_as_the_service_signs_it(bridge, service, caller, owner, person, token):
    made_request = ask(caller, person, generate_connector_key())
    approved = owner.approve(owner.review(made_request.request_id), invited=True)
    owner.pause(approved.grant.grant_id)
    owner.resume(approved.grant.grant_id)
    secret, taken = "whsec_c2VjcmV0IG9mIGEgbGFwdG9w", []

    class Receiver(Answering):
        def post(self):
            taken.append(verify(self.body(), self.headers, secret))
            self.answer(204)

    begins = ("--base-url", f"{service}/api/v1", "--last-event-id", "0", "--count", "3")
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Receiver)) as address:
        sent = bridge("listen", "--forward", address, "--secret", secret, *begins, **token)
    nowhere = f"http://127.0.0.1:{free_port()}"
    away = bridge("listen", "--forward", nowhere, *begins, **token)
    printed = bridge("events", *begins, **token)

    types = ["consent.approved", "consent.paused", "consent.resumed"]
    assert [notice.type for notice in taken] == types
    assert {notice.status.request_id for notice in taken} == {made_request.request_id}
    assert [json.loads(line)["answered"] for line in sent.stdout.splitlines()] == [204] * 3
    assert b"signs with whsec_" in away.stderr
    assert [json.loads(line)["error"] for line in away.stdout.splitlines()] == [
        f"POST {nowhere} failed: ConnectionError"
    ] * 3
    assert [json.loads(line)["type"] for line in printed.stdout.splitlines()] == types
