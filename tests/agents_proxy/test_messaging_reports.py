"""What the messaging agent says later of a message: signed, taken once, and nothing to strangers."""

import base64
import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography.fernet import Fernet
from standardwebhooks.webhooks import Webhook

from accounts.models import User
from agents_proxy.messaging.models import OutboundMessage
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.phone_owners import ADDRESS, CALL, OTHER, TO, verified
from tests.agents_proxy.proxy_calls import configure
from tests.callers import JsonClient, signed_in

REPORTS = f"{ADDRESS}/reports"
SECRET = "whsec_" + base64.b64encode(b"a secret that only tests have").decode()


def report(
    client_json: JsonClient, body: Any, *, secret: str = SECRET, age: int = 0, address: str = REPORTS, **headers: str
) -> Any:
    """A report as the agent sends it: signed, from no browser."""
    at, written = datetime.now(UTC) - timedelta(seconds=age), body if isinstance(body, str) else json.dumps(body)
    name = hashlib.sha256(f"{address}{written}{at}".encode()).hexdigest()
    signed = {
        "webhook-id": name,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(name, at, written),
        **headers,
    }
    return client_json.client.post(address, written, content_type="application/json", headers=signed)


@pytest.fixture
def _taken(settings: Any) -> None:
    settings.MESSAGING_REPORT_SECRET = SECRET


@pytest.mark.usefixtures("_taken")
@pytest.mark.parametrize(
    "named",
    [
        {"messageId": "SM-1"},
        {"id": "task-table", "to": TO},
        {"messageId": "SM-1", "id": "task-other", "to": OTHER},
    ],
)
def test_a_report_moves_the_message_once(
    carrier: Agents, client_json: JsonClient, person: User, named: dict[str, str]
) -> None:
    carrier.replies["messaging"] = {"status": "queued", "messageId": "SM-1"}
    signed_in(verified(person)).post(ADDRESS, CALL)

    answers = [report(client_json, {**named, "status": word}) for word in ("delivered", "delivered", "failed")]

    assert [(answer.status_code, answer.json()["status"]) for answer in answers] == [(200, "delivered")] * 3
    assert signed_in(person).get("/api/a2a/messages").json()["messages"][0]["status"] == "delivered"


@pytest.mark.usefixtures("_taken")
@pytest.mark.parametrize(
    ("words", "stands"),
    [
        (["accepted", "queued", "scheduled", "sending", "sent"], "sent"),
        (["sent", "delivered", "sent", "queued"], "delivered"),
        (["read", "delivered", "undelivered"], "delivered"),
        (["sending", "undelivered", "sent", "accepted"], "failed"),
        (["Scheduled", "SENT", "Failed", "sending"], "failed"),
        (["buffered", "pending", "dispatched", "expired"], "failed"),
    ],
)
def test_words_of_gateways_in_any_order(
    carrier: Agents, client_json: JsonClient, person: User, words: list[str], stands: str
) -> None:
    carrier.replies["messaging"] = {"status": "accepted", "messageId": "SM-1"}
    signed_in(verified(person)).post(ADDRESS, CALL)

    for word in words:
        assert report(client_json, {"messageId": "SM-1", "status": word}).status_code == 200

    assert OutboundMessage.objects.get().status == stands


@pytest.mark.usefixtures("_taken")
@pytest.mark.django_db(transaction=True)  # the report comes from another thread
def test_an_answer_that_comes_after_its_report_changes_nothing(
    carrier: Agents, client_json: JsonClient, person: User
) -> None:
    def overtaken(_request: Any) -> Any:
        report(client_json, {"id": "task-table", "to": TO, "status": "delivered"})
        return {"status": "queued", "messageId": "SM-1"}

    carrier.replies["messaging"] = overtaken
    signed_in(verified(person)).post(ADDRESS, CALL)

    assert OutboundMessage.objects.get().status == "delivered"


@pytest.mark.usefixtures("_taken")
def test_a_report_of_what_broke_off(client_json: JsonClient, person: User, settings: Any) -> None:
    """The agent's answer was lost, so its ID is not known here; the report brings it."""
    configure(settings, "messaging", url="http://127.0.0.1:9/")
    signed_in(verified(person)).post(ADDRESS, CALL)
    assert OutboundMessage.objects.get().status == "unknown"
    body = {"messageId": "SM-9", "id": "task-table", "to": TO, "status": "undelivered"}

    assert report(client_json, body).json()["status"] == "failed"
    kept = OutboundMessage.objects.get()
    assert (kept.status, kept.error_code, kept.upstream_id) == ("failed", "delivery_failed", "SM-9")


@pytest.mark.usefixtures("_taken")
def test_a_report_names_its_message_by_task_after_the_keys_changed(
    client_json: JsonClient, person: User, settings: Any
) -> None:
    configure(settings, "messaging", url="http://127.0.0.1:9/")
    signed_in(verified(person)).post(ADDRESS, CALL)
    settings.DATA_ENCRYPTION_KEYS = [Fernet.generate_key().decode(), *settings.DATA_ENCRYPTION_KEYS]

    assert report(client_json, {"id": "task-table", "to": TO, "status": "sent"}).json()["status"] == "sent"


@pytest.mark.usefixtures("_taken")
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"messageId": "SM-2", "status": "delivered"}, 404, "unknown_message"),
        ({"id": "task-table", "to": OTHER, "status": "delivered"}, 404, "unknown_message"),
        ({"id": "task-table", "status": "delivered"}, 400, "invalid_request"),
        ({"messageId": "SM-1", "status": "painted"}, 400, "invalid_request"),
        ({"messageId": "SM-1", "status": "delivered", "more": 1}, 400, "invalid_request"),
        ("{", 400, "invalid_request"),
    ],
)
def test_reports_that_do_not_fit(
    carrier: Agents, client_json: JsonClient, person: User, body: Any, status: int, code: str
) -> None:
    carrier.replies["messaging"] = {"status": "queued", "messageId": "SM-1"}
    signed_in(verified(person)).post(ADDRESS, CALL)

    answer = report(client_json, body)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert OutboundMessage.objects.get().status == "sent"


@pytest.mark.parametrize(
    "how",
    [
        {"secret": "whsec_" + base64.b64encode(b"another").decode()},
        {"age": 600},
        {"webhook-signature": "v1,not base64"},
        {"webhook-signature": "nonsense"},
        {"webhook-id": "rep-2"},
    ],
)
def test_reports_of_strangers(client_json: JsonClient, settings: Any, how: dict[str, Any], db: None) -> None:
    body = {"messageId": "SM-1", "status": "delivered"}
    assert report(client_json, body).json()["detail"] == "No reports are taken here."
    settings.MESSAGING_REPORT_SECRET = SECRET
    answer = report(client_json, body, **how)

    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_signature")
    assert client_json.get(REPORTS).status_code == 405
    assert client_json.post(REPORTS, body).status_code == 401
