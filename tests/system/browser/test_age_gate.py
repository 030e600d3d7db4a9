"""A wine shop learns that somebody is 18 and nothing else: two taps, and a birthday that nobody ever sends or keeps."""

import select
import socket
import socketserver
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from consent.connections.models import Connection
from consent.exports.models import Export
from consent.grants.models import Grant
from developers.models import App
from tests.factories import AppFactory, TokenFactory
from tests.fakes.serving import serving
from tests.system.bridge.hosts import bridge_environment
from tests.system.browser.people import confirm_code, create_account, emulate_authenticator, enter, save
from tests.system.canary.kept import dump
from tests.system.examples.conftest import example

pytestmark = [pytest.mark.browser, pytest.mark.without_services]

BORN = "1987-03-09"
ADULT = "identity.basic.age_over_18"


class Relay(socketserver.ThreadingTCPServer):
    """Passes on what the shop and the service say to each other, and keeps it."""

    daemon_threads = True

    def __init__(self, to: str) -> None:
        self.to, self.heard = urlsplit(to), bytearray()
        super().__init__(("127.0.0.1", 0), Passing)


class Passing(socketserver.BaseRequestHandler):
    server: Relay

    def handle(self) -> None:
        with socket.create_connection((self.server.to.hostname, self.server.to.port)) as service:
            other = {self.request: service, service: self.request}
            while True:
                for one in select.select(list(other), [], [])[0]:
                    if not (piece := one.recv(65536)):
                        return
                    self.server.heard += piece
                    other[one].sendall(piece)


@pytest.fixture
def app(site: str) -> App:
    made: App = AppFactory(application__needed_scopes=[f"attr.{ADULT}"])
    return made


@pytest.fixture
def relay(site: str) -> Iterator[Relay]:
    with Relay(site) as made, serving(made):
        yield made


@pytest.fixture
def gate(relay: Relay, app: App, tmp_path: Path) -> Iterator[str]:
    service = f"http://127.0.0.1:{relay.server_address[1]}"
    environment = {**bridge_environment(tmp_path, service, TokenFactory(app=app).secret), "PORT": "0"}
    with example("age_gate.py", environment=environment) as running:
        address = running.line().removeprefix("Open ")
        app.origins = [address.rstrip("/")]
        app.save(update_fields=["origins"])
        yield address


def all_that_is_sent(page: Page) -> list[str]:
    """What this page's browser sends from now on: nobody can answer it with what nobody was sent."""
    sent: list[str] = []
    page.on("request", lambda one: sent.extend((one.url, one.post_data or "", str(one.headers))))
    return sent


def test_a_shop_learns_one_bit_with_two_taps_and_no_birthday_travels(
    page: Page, site: str, app: App, gate: str, relay: Relay
) -> None:
    sent = all_that_is_sent(page)
    emulate_authenticator(page)
    create_account(page)
    page.get_by_role("button", name="Go on with a passkey").click()
    confirm_code(page)
    expect(page.locator("#first-form")).to_be_visible()
    page.goto("/vault/data/identity/")
    enter(page, "basic", "birth_date", BORN)
    save(page, "basic")

    page.goto(gate)
    page.get_by_role("button", name="Show that I am 18").click()
    page.wait_for_url("**/connect/**")
    page.get_by_role("button", name="Connect", exact=True).click()  # the first tap
    expect(page.locator(f"[data-path='{ADULT}'] .v")).to_have_text("Yes")
    page.locator("#approve").click()  # the second

    page.wait_for_url(gate)
    expect(page.locator("p")).to_have_text("Come in.")
    assert Grant.objects.get(app=app).approved_attributes == [ADULT]
    assert not Grant.objects.filter(status="active").exists()
    assert not Connection.objects.filter(app=app, status="connected").exists()
    assert not Export.objects.filter(ciphertext__isnull=False).exists()
    travelled = ["".join(sent).encode(), bytes(relay.heard), dump()]
    assert all(ADULT.encode() in each for each in travelled)  # each of them would have held it
    assert [BORN.encode() in each for each in travelled] == [False, False, False]
