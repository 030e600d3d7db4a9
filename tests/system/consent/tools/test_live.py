"""The official client over a real socket: whole trips on the newest and the previous revision."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mcp_types as mcp
import pytest
from anyio.from_thread import start_blocking_portal
from django.conf import settings as django_settings
from django.db import connection
from mcp import Client

from accounts.models import User
from consent.decisions import actions as decision_actions
from consent.requests.models import ConsentRequest
from consent_bridge import sealed
from developers.models import App
from tests.consent.api.addresses import CONNECTOR, FOOD, request_body
from tests.consent.decisions import approval
from tests.consent.tools.hosts import TOOLS, header_of
from tests.factories import ConsentRequestFactory, TokenFactory, give_vault, invitation_of
from tests.patience import MOST_SECONDS, eventually

pytestmark = pytest.mark.django_db(transaction=True)
MODES = {"newest": "2026-07-28", "probed": "auto", "previous": "legacy"}
REVISIONS = {"newest": "2026-07-28", "probed": "2026-07-28", "previous": "2025-11-25"}


class Caller:
    """The official client, for tests that are not asynchronous."""

    def __init__(self, portal: Any, client: Client) -> None:
        self._portal, self.client = portal, client

    def do(self, method: str, *arguments: Any) -> Any:
        return self._portal.call(getattr(self.client, method), *arguments)

    def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = self.do("call_tool", name, arguments)
        assert not result.is_error, result
        content: dict[str, Any] = result.structured_content
        return content


@contextmanager
def connected(address: str, **options: Any) -> Iterator[Caller]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(address, **options)) as client:
        yield Caller(portal, client)


@pytest.fixture
def address(service: str, app: App) -> str:
    """What a host's configuration says."""
    return f"{service}/mcp?token={TokenFactory(app=app).secret}"


@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize("mode", MODES)
def test_the_client_lists_tools_and_resources(mode: str, slash: str, address: str) -> None:
    with connected(address.replace("/mcp", f"/mcp{slash}"), mode=MODES[mode]) as caller:
        assert caller.client.protocol_version == REVISIONS[mode]
        assert tuple(tool.name for tool in caller.do("list_tools").tools) == TOOLS
        resources = caller.do("list_resources").resources
        assert [str(resource.uri) for resource in resources] == [
            "consent://scope-catalog",
            "consent://lifecycle",
            "consent://how-to-decrypt",
        ]
        (text,) = caller.do("read_resource", "consent://how-to-decrypt").contents
        assert "ECDH-ES+A256KW" in text.text


@pytest.mark.parametrize("mode", MODES)
def test_a_whole_trip(mode: str, address: str, person: User, app: App) -> None:
    vault = give_vault(person)
    with connected(address, mode=MODES[mode]) as caller:
        assert FOOD in caller.tool("discover_user_scopes", user_id=invitation_of(person))["scopes"]
        made = caller.tool("request_consent", **request_body(person))
        request = ConsentRequest.objects.get(request_id=made["request_id"])
        assert caller.tool("check_consent_status", request_id=made["request_id"])["status"] == "pending"
        early = caller.do("call_tool", "get_encrypted_export", {"request_id": made["request_id"]})
        assert (early.is_error, early.structured_content["code"]) == (True, "authorization_pending")

        decision_actions.approve(request_id=request.request_id, by=person, body=approval(request, vault))

        status = caller.tool("check_consent_status", request_id=made["request_id"], wait_seconds=30)
        assert (status["status"], status["grant"]["reads"]) == ("approved", 0)
        export = caller.tool("get_encrypted_export", request_id=made["request_id"])
        opened = sealed.open_export(export["jwe"], CONNECTOR, header_of(made))
        assert opened.data["lifestyle"]["food"]["favorite_cuisine"] == "Thai"
        assert caller.tool("end_consent", request_id=made["request_id"])["grant"]["status"] == "released"
        over = caller.do("call_tool", "get_encrypted_export", {"request_id": made["request_id"]})
        assert (over.is_error, over.structured_content["code"]) == (True, "grant_ended")


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_opens_pages(mode: str, action: Any, address: str, person: User) -> None:
    give_vault(person)
    opened: list[str] = []

    async def open_page(context: Any, page: Any) -> mcp.ElicitResult:
        opened.append(page.url)
        return mcp.ElicitResult(action=action)

    with connected(address, mode=MODES[mode], elicitation_callback=open_page) as caller:
        made = caller.tool("request_consent", **request_body(person))

    assert opened == ([] if mode == "previous" else [made["approval_url"]])
    assert made["approval_url"].startswith(django_settings.BASE_URL)
    assert [request.status for request in ConsentRequest.objects.all()] == ["pending"]


@pytest.mark.parametrize("mode", ["newest", "previous"])
def test_an_unknown_tool_and_a_bad_token_are_errors(mode: str, address: str) -> None:
    with connected(address, mode=MODES[mode]) as caller, pytest.raises(Exception, match="There is no such tool"):
        caller.do("call_tool", "approve", {})
    with pytest.raises(BaseException) as refused, connected(address + "x", mode=MODES[mode]) as caller:
        caller.do("list_tools")
    assert refused.value


def test_a_held_answer_comes_with_the_decision_and_holds_no_connection(
    address: str, app: App, person: User, hub: Any
) -> None:
    vault = give_vault(person)
    request = ConsentRequestFactory(app=app, user=person)
    answers: list[dict[str, Any]] = []

    def wait() -> None:
        with connected(address, mode="2026-07-28") as caller:
            answers.append(caller.tool("check_consent_status", request_id=request.request_id, wait_seconds=30))

    waiter = threading.Thread(target=wait)
    waiter.start()
    eventually(lambda: hub.count() == 1, "the held call")
    # what looked at the request may be about to give its connection back; what holds one holds it for the whole wait
    eventually(lambda: not _connections_beside_ours(), "the return of the connection")
    assert hub.count() == 1
    decision_actions.approve(request_id=request.request_id, by=person, body=approval(request, vault))
    waiter.join(MOST_SECONDS)

    assert [answer["status"] for answer in answers] == ["approved"]


def _connections_beside_ours() -> int:
    """How many other clients are at work in this database; none where it has no sessions."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
            "AND backend_type = 'client backend' "
            "AND (xact_start IS NOT NULL OR state = 'active')"
        )
        (count,) = cursor.fetchone()
    return int(count)


def test_many_at_once(address: str, app: App) -> None:
    """Exchanges on many threads do not meet."""
    requests = [ConsentRequestFactory(app=app).request_id for _ in range(4)]
    found: dict[str, list[str]] = {}

    def ask(request_id: str) -> None:
        with connected(address, mode="2026-07-28") as caller:
            found[request_id] = [
                caller.tool("check_consent_status", request_id=request_id)["request_id"] for _ in range(10)
            ]

    threads = [threading.Thread(target=ask, args=[request_id]) for request_id in requests]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert found == {request_id: [request_id] * 10 for request_id in requests}
