"""The examples do what they say, against the real application."""

import json
import re
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import module_from_spec, spec_from_file_location
from urllib.parse import urlsplit

import requests
from standardwebhooks.webhooks import Webhook

from common import encryption
from consent.connections import actions as connections
from consent.connections.models import Connection
from consent.grants.models import Grant
from consent.notices.models import WebhookDelivery
from consent.notices.webhooks import deliver_due, replay
from consent_bridge.client import Client
from consent_bridge.sealed import generate_connector_key
from developers.models import WebhookEndpoint
from examples.agent import suggest
from tests.bridge.wire import APPROVED
from tests.factories import invitation_of
from tests.fakes.serving import serving
from tests.system.bridge.hosts import ROOT
from tests.system.bridge.steps import PURPOSE, SCOPE
from tests.system.examples.conftest import example

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
AS_IT_IS = ["Linen shirt", "Wool suit", "Running jacket", "Silk tie"]


def request_in(text):
    return re.search(r"/consent/requests/(req_\w+)/", text)[1]


def test_agent_asks_waits_and_suggests(environment, owner, person):
    with example("agent.py", invitation_of(person), environment=environment) as agent:
        request_id = request_in(agent.line())
        review = owner.review(request_id)
        decided = owner.approve(review, invited=True)
        code, output = agent.ends()

    assert (review.scope, review.purpose) == (SCOPE, PURPOSE)
    assert decided.grant.status == "active"
    assert (code, output) == (0, ["- Green Mango (Thai)", "- Da Lucia (Italian)"])


def test_agent_reads_a_diet_however_it_is_written():
    tastes = {"diet_preference": "Vegetarian", "favorite_cuisine": "italian"}

    assert [place.name for place in suggest(tastes)] == ["Da Lucia", "Green Mango"]


def test_agent_takes_no_for_an_answer(environment, owner, person):
    with example("agent.py", invitation_of(person), environment=environment) as agent:
        owner.deny(request_in(agent.line()))

        assert agent.ends() == (2, ["Not this time, then."])


def test_agent_without_a_person_says_why(environment, owner):
    with example("agent.py", "usr_unknown", environment=environment) as agent:
        assert agent.ends() == (1, [])


def posts(session, address, action):
    """What a browser sends from the shop's own page, which is then led elsewhere."""
    own = {"Origin": address.rstrip("/")}
    answer = session.post(f"{address}{action}", headers=own, timeout=30, allow_redirects=False)
    assert answer.status_code == 303
    return answer.headers["Location"]


def shelf(session, address):
    """What the shop shows: its note, its goods in order, and the whole page."""
    page = session.get(address, timeout=30)
    assert page.status_code == 200
    return re.search("<p>(.*?)</p>", page.text)[1], re.findall("<li>(.*?)</li>", page.text), page.text


@contextmanager
def open_shop(api, environment):
    """The shop, and where it is: an origin of its app."""
    with example("shop.py", environment={**environment, "PORT": "0"}) as shop:
        address = shop.line().removeprefix("Open ")
        api.app.origins = [address.rstrip("/")]
        api.app.save(update_fields=["origins"])
        yield address


def connected(link, person):
    """Whoever follows the shop's link connects; what rides along waits for them then."""
    connection = Connection.objects.get(connection_id=urlsplit(link).path.split("/")[2])
    return connections.connect(connection=connection, by=person)


def test_shop_sorts_by_what_was_approved(environment, api, owner, person):
    with open_shop(api, environment) as address, requests.Session() as visitor:
        before = shelf(visitor, address)
        made = connected(posts(visitor, address, "share"), person)
        decided = owner.approve(owner.review(made.request.request_id), invited=True)
        visitor.get(connections.return_to(connection=made), timeout=30)
        after = shelf(visitor, address)
        with requests.Session() as another:
            elsewhere = shelf(another, address)
        posts(visitor, address, "forget")
        forgotten = shelf(visitor, address)

    assert before[1] == AS_IT_IS
    assert decided.grant.approved_attributes == ("lifestyle.shopping.fashion_style",)
    assert after[:2] == ("Sorted by what you like.", ["Wool suit", "Silk tie", "Linen shirt", "Running jacket"])
    assert elsewhere[1] == forgotten[1] == AS_IT_IS
    assert "market" not in after[2]
    assert Grant.objects.get().status == "released"


def test_shop_takes_no_visit_for_another(environment, api, owner, person):
    """Somebody begins at the shop and sends the link to a person, who approves: neither of the two visits has it."""
    with open_shop(api, environment) as address, requests.Session() as sender, requests.Session() as persons:
        made = connected(posts(sender, address, "share"), person)
        owner.approve(owner.review(made.request.request_id), invited=True)
        persons.get(connections.return_to(connection=made), timeout=30)
        shown = [shelf(one, address) for one in (persons, sender)]

    assert [goods for _, goods, _ in shown] == [AS_IT_IS] * 2
    assert shown[0][0].startswith("That did not begin in this visit.")
    assert Connection.objects.get().completed_at is None


def test_shop_goes_on_without(environment, api, owner, person):
    with open_shop(api, environment) as address, requests.Session() as visitor:
        link = posts(visitor, address, "share")
        connection = Connection.objects.get()
        connections.decline(connection=connection, by=person)
        connection.refresh_from_db()
        visitor.get(connections.return_to(connection=connection), timeout=30)
        declined = shelf(visitor, address)
        made = connected(posts(visitor, address, "share"), person)
        owner.deny(made.request.request_id)
        visitor.get(connections.return_to(connection=made), timeout=30)
        denied = shelf(visitor, address)

    assert link.endswith(f"/connect/{connection.connection_id}/")
    assert declined[:2] == denied[:2] == ("No problem: here is our shelf as it is.", AS_IT_IS)


def test_shop_takes_no_form_of_another_page_and_no_cookie_of_its_own_making(environment, api):
    chosen = {"visitor": "chosen-by-a-stranger"}
    with open_shop(api, environment) as address:
        own = {"Origin": address.rstrip("/")}
        codes = [
            requests.post(f"{address}{action}", headers=headers, timeout=30).status_code
            for action in ("share", "forget")
            for headers in ({}, {"Origin": "null"}, {"Origin": "http://evil.example"})
        ]
        looked, forgotten, shared = (
            requests.get(address, cookies=chosen, timeout=30),
            *(
                requests.post(f"{address}{action}", cookies=chosen, headers=own, allow_redirects=False, timeout=30)
                for action in ("forget", "share")
            ),
        )

    assert codes == [403] * 6
    assert [answer.status_code for answer in (looked, forgotten, shared)] == [200, 303, 303]
    assert looked.cookies.get("visitor") is forgotten.cookies.get("visitor") is None
    assert len(shared.cookies["visitor"]) == 32


def test_receiver_takes_what_the_service_sends(settings, service, api, owner, person, environment):
    settings.WEBHOOK_INTERNAL_ADDRESSES = True
    receiving = {**environment, "PORT": "0", "WEBHOOK_SECRET": SECRET}
    with (
        example("webhook_receiver.py", environment=receiving) as receiver,
        Client(f"{service}/api/v1", api.token) as app,
    ):
        address = json.loads(receiver.line())["listening"]
        WebhookEndpoint.objects.create(app=api.app, url=address, secret=encryption.sealed(SECRET))
        made_request = app.request_consent(invitation_of(person), SCOPE, purpose=PURPOSE, key=generate_connector_key())
        approved = owner.approve(owner.review(made_request.request_id), invited=True)
        deliver_due()
        first = json.loads(receiver.line())
        owner.revoke(approved.grant.grant_id)
        deliver_due()
        second = json.loads(receiver.line())
        # A repetition, one that came late, one of somebody else: none of them is news.
        for delivery in WebhookDelivery.objects.all():
            replay(WebhookDelivery.objects.filter(pk=delivery.pk))
        deliver_due()
        forged = requests.post(address, data=b"{}", headers=signed_by_another(b"{}"), timeout=30)
        refused = json.loads(receiver.line())

    assert [(news["type"], news["status"]) for news in (first, second)] == [
        ("consent.approved", "active"),
        ("consent.revoked", "revoked"),
    ]
    assert second["sequence"] == first["sequence"] + 1
    assert forged.status_code == 400
    assert refused == {"refused": "the webhook's signature does not hold"}
    assert set(WebhookDelivery.objects.values_list("status", flat=True)) == {"delivered"}


def test_receiver_acts_again_on_what_failed(monkeypatch, capsys):
    found = spec_from_file_location("webhook_receiver", ROOT / "examples/webhook_receiver.py")
    found.loader.exec_module(receiver := module_from_spec(found))
    outcomes = iter([RuntimeError("the disk is full"), None])
    acted = []

    def act_on(notice):
        acted.append(notice.webhook_id)
        if failure := next(outcomes):
            raise failure

    monkeypatch.setattr(receiver, "act_on", act_on)
    body = json.dumps({"type": "consent.approved", "timestamp": "2026-11-20T10:00:00Z", "data": APPROVED}).encode()
    with serving(receiver.HookServer(0, SECRET)) as address:
        codes = [requests.post(address, data=body, headers=signed(body), timeout=30).status_code for _ in range(3)]

        unknown = json.dumps({"type": "consent.forgotten", "timestamp": "2026-11-20T10:00:00Z", "data": None}).encode()
        later = requests.post(address, data=unknown, headers=signed(unknown), timeout=30).status_code

    assert (codes, acted) == ([500, 204, 204], ["msg_1", "msg_1"])
    assert later == 204  # of a type that no client of today knows
    assert "the disk is full" in capsys.readouterr().err


def signed_by_another(body):
    return signed(body, "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD")


def signed(body, secret=SECRET):
    now = datetime.now(UTC)
    signature = Webhook(secret).sign("msg_1", now, body.decode())
    return {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": signature,
    }


def test_the_age_gate_lets_nobody_in_who_brings_no_answer(environment, api):
    with example("age_gate.py", environment={**environment, "PORT": "0"}) as gate, requests.Session() as visitor:
        address = gate.line().removeprefix("Open ")
        api.app.origins = [address.rstrip("/")]
        api.app.save(update_fields=["origins"])
        response = visitor.post(f"{address}ask", headers={"Origin": address.rstrip("/")}, allow_redirects=False)
        connection_id = Connection.objects.get().connection_id

        pages = [visitor.get(f"{address}back?{query}").text for query in ("", f"connection_id={connection_id}")]

    assert (response.status_code, "/connect/" in response.headers["Location"]) == (303, True)
    assert ["We could not find out" in page and "Come in" not in page for page in pages] == [True, True]


def test_every_example_is_described_and_tested():
    described = set(re.findall(r"\]\((\w+\.py)\)", (ROOT / "examples" / "README.md").read_text()))

    assert described == {path.name for path in (ROOT / "examples").glob("*.py")} - {"__init__.py"}
    assert {
        name for name in described if f'"{name}"' not in (ROOT / "tests/system/examples/test_examples.py").read_text()
    } == set()
