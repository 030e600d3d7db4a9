"""Messages to a browser, and the page that it shows without a connection.

A headless browser has no push service: the page's own code is given a subscription with keys of the test. What the
server then sends arrives at a real server and is opened with those keys. Nor does a headless browser show messages: its
worker is given one by the developer tools, and what it asks of the browser is written down.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from accounts.alerts import push
from accounts.models import AlertSettings, PushSubscription, User
from tests.factories import ConsentRequestFactory, PersonFactory
from tests.fakes.push_service import FakeBrowser, PushService, push_service
from tests.outbox import send_mails
from tests.system.browser.conftest import PHONE
from tests.system.browser.page_faults import Complaints
from tests.system.browser.people import eventually_on

pytestmark = pytest.mark.browser
SignIn = Callable[..., None]
NewProfile = Callable[..., BrowserContext]
_KEPT = """caches.keys().then((all) => Promise.all(all.map((one) => caches.open(one).then((found) => found.keys()))))
  .then((all) => all.flat().map((one) => new URL(one.url).pathname))"""
_SUBSCRIBES = """(() => {
  const { endpoint, public_key, auth } = %s;
  const plain = (text) => atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const octets = (text) => Uint8Array.from(plain(text), (one) => one.charCodeAt(0)).buffer;
  const kept = "of the test: subscribed";
  const made = (applicationServerKey) => ({
    endpoint, options: { applicationServerKey: octets(applicationServerKey) },
    getKey: (name) => octets(name === "auth" ? auth : public_key),
    unsubscribe: async () => { localStorage.removeItem(kept); return true; },
  });
  const current = async () => (localStorage.getItem(kept) ? made(localStorage.getItem(kept)) : null);
  PushManager.prototype.getSubscription = current;
  PushManager.prototype.subscribe = ({ applicationServerKey }) => {
    localStorage.setItem(kept, applicationServerKey);
    return current();
  };
})()"""


@pytest.fixture
def service(settings: Any) -> Iterator[PushService]:
    with push_service(settings) as running:
        yield running


@pytest.fixture
def phone(new_profile: NewProfile, site: str) -> BrowserContext:
    context = new_profile(viewport=PHONE, service_workers="allow")
    context.grant_permissions(["notifications"], origin=site)
    return context


def worker_of(page: Page) -> None:
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")


def test_a_browser_is_told_of_a_request_until_its_person_signs_out(
    phone: BrowserContext, site: str, service: PushService, sign_in: SignIn, person: User
) -> None:
    browser = FakeBrowser("https://push.example.net/one")
    phone.add_init_script(_SUBSCRIBES % json.dumps(browser.subscription))
    page = phone.new_page()
    sign_in(page, person, at="/consent/alerts/")
    page.get_by_role("button", name="Show messages here").click()
    expect(page.get_by_text("It shows messages, also while this page is closed.")).to_be_visible()
    assert AlertSettings.objects.filter(user=person).exists()
    # what the service is told goes to the stand-in, which no page may name: it is no public address
    here = json.dumps({**browser.subscription, "endpoint": f"{service.origin}/push/one"})
    PushSubscription.objects.filter(user=person).update(sealed=push.sealed(here))

    consent_request = ConsentRequestFactory(user=person, app_name="Lunch Finder")
    send_mails()
    push.send_due_pushes()  # what the worker did not send at once
    assert browser.opened(service.arrived[0][2])["path"] == f"/consent/requests/{consent_request.request_id}/"

    page.locator("details.menu > summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(lambda url: "/consent/" not in url)
    assert not PushSubscription.objects.exists()
    assert page.evaluate("localStorage.getItem('of the test: subscribed')") is None


def test_without_a_connection_nothing_of_a_person_is_shown(
    phone: BrowserContext, sign_in: SignIn, person: User
) -> None:
    page = phone.new_page()
    sign_in(page, person, at="/consent/alerts/")
    worker_of(page)
    eventually_on(page, lambda: "/offline/" in page.evaluate(_KEPT), "the page is kept")
    assert {path for path in page.evaluate(_KEPT) if not path.startswith("/static/")} == {"/offline/"}

    phone.set_offline(True)
    page.goto("/consent/")
    expect(page.get_by_role("heading", name="No connection")).to_be_visible()
    assert person.email not in page.content()
    phone.set_offline(False)
    page.get_by_role("link", name="Try again").click()
    expect(page.get_by_role("heading", name="No connection")).to_be_hidden()


# What a headless browser refuses to do: it grants nobody messages, and opens no window for a tap that nobody made.
_SHOWS = """() => {
  self.shown = [], self.opened = [];
  self.registration.showNotification = async (title, options) => void self.shown.push([title, options]);
  self.clients.openWindow = async (url) => void self.opened.push(url);
}"""
_TAPPED = """(path) => {
  const event = new ExtendableEvent("notificationclick");
  event.notification = { close() {}, data: { path } };
  self.dispatchEvent(event);
}"""


def test_a_message_is_shown_once_and_leads_to_its_page_and_to_no_other_site(
    phone: BrowserContext, site: str, sign_in: SignIn, person: User
) -> None:
    page = phone.new_page()
    sign_in(page, person, at="/consent/alerts/")
    worker_of(page)
    worker = phone.service_workers[0]
    worker.evaluate(_SHOWS)
    devtools, known = phone.new_cdp_session(page), []
    devtools.on("ServiceWorker.workerRegistrationUpdated", lambda event: known.extend(event["registrations"]))
    devtools.send("ServiceWorker.enable")
    eventually_on(page, lambda: known, "the registration of the worker")
    notice = {
        "title": "Lunch Finder asks",
        "text": "Decide in the app.",
        "path": "/consent/requests/req_1/",
        "tag": "req_1",
    }
    message = {"origin": site, "registrationId": known[0]["registrationId"], "data": json.dumps(notice)}
    devtools.send("ServiceWorker.deliverPushMessage", message)

    eventually_on(page, lambda: worker.evaluate("self.shown.length") == 1, "the message")
    options = {"body": notice["text"], "tag": notice["tag"], "data": {"path": notice["path"]}}
    assert worker.evaluate("self.shown") == [[notice["title"], options]]
    for path, opened in ((notice["path"], site + notice["path"]), ("https://evil.example/", site)):
        worker.evaluate(_TAPPED, path)
        assert worker.evaluate("self.opened.pop()") == opened


def test_a_page_that_comes_back_refused_is_gone_on_with_where_it_is_wrong(
    page: Page, sign_in: SignIn, complaints: Complaints
) -> None:
    page.set_viewport_size(PHONE)
    sign_in(page, PersonFactory(), at="/consent/alerts/")
    zone = page.get_by_label("Your time zone")
    zone.fill("Moon/Tycho")
    with complaints.expecting(400), page.expect_navigation():
        zone.press("Enter")

    expect(zone).to_be_focused()
    expect(zone).to_be_in_viewport()
