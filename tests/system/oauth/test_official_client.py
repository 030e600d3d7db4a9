"""The official Python SDK's own OAuth client connects to the running service, with nothing pasted."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from common import addresses
from common.outbound.client import Answer
from common.outbound.client import Client as Outbound
from developers.models import App, OAuthClient
from developers.oauth import clients
from tests.factories import MemberFactory, give_vault
from tests.fakes.serving import Answering, serving
from tests.visitor import Visitor

pytestmark = pytest.mark.django_db(transaction=True)
REDIRECT = "http://127.0.0.1:33418/callback"
DOCUMENT = "https://host.example/oauth/client.json"


class Memory:
    """Where the SDK keeps what it was given."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Browser:
    """The person at the page, to which the SDK sends them."""

    def __init__(self, service: str, email: str, act_as: str) -> None:
        self.visitor, self.act_as, self.brought = Visitor(service), act_as, dict[str, str]()
        self.visitor.sign_in(email)

    async def opens(self, url: str) -> None:
        await asyncio.to_thread(self._allow, url)

    def _allow(self, url: str) -> None:
        parts = urlsplit(url)
        fields = {"act_as": self.act_as, "permission": ["discover", "request"], "answer": "allow"}
        answer = self.visitor.submit(f"{parts.path}?{parts.query}", fields, follow=False)
        assert answer.status_code == 303, answer.text
        self.brought = dict(parse_qsl(urlsplit(answer.headers["Location"]).query))

    async def comes_back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**self.brought)


def connected(service: str, browser: Browser, act: Any, *, memory: Memory, document: str | None = None) -> Any:
    """`act(client)` with the SDK's client, which finds its way in by itself."""
    metadata = OAuthClientMetadata(redirect_uris=[REDIRECT], client_name="A host of the SDK")  # type: ignore[list-item]

    async def inside() -> Any:
        provider = OAuthClientProvider(
            f"{service}/mcp", metadata, memory, browser.opens, browser.comes_back, client_metadata_url=document
        )
        async with (
            create_mcp_http_client(auth=provider) as http,
            Client(streamable_http_client(f"{service}/mcp", http_client=http)) as client,
        ):
            return await asyncio.wait_for(act(client), 180)

    return asyncio.run(inside())


async def discovers(client: Client) -> dict[str, Any]:
    listed = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
    assert "user_id" not in listed["discover_user_scopes"]["properties"]
    found = await client.call_tool("discover_user_scopes", {})
    assert not found.is_error, found.structured_content
    return dict(found.structured_content)


async def reads_the_catalogue(client: Client) -> dict[str, Any]:
    return dict((await client.call_tool("list_scope_catalog", {})).structured_content)


def test_a_host_that_registers_itself_acts_for_a_person(service: str, person: Any) -> None:
    give_vault(person)
    memory = Memory()

    found = connected(service, Browser(service, person.email, "me"), discovers, memory=memory)

    assert found["scopes"]
    assert App.objects.get(mode="personal").person == person
    assert memory.tokens is not None
    assert memory.tokens.scope == "discover request"


def test_the_sdk_refreshes_by_itself(service: str, person: Any) -> None:
    give_vault(person)
    memory = Memory()
    browser = Browser(service, person.email, "me")
    connected(service, browser, discovers, memory=memory)
    assert memory.tokens is not None
    first = memory.tokens
    memory.tokens = first.model_copy(update={"access_token": "cr_oauth_gone", "expires_in": -1})
    browser.brought = {}

    connected(service, browser, discovers, memory=memory)

    assert memory.tokens.access_token != first.access_token


def test_a_host_with_a_metadata_document_acts_for_an_app(
    service: str, person: Any, site: str, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    MemberFactory(app=app, user=person, role="member")
    memory = Memory()
    browser = Browser(service, person.email, app.app_id)

    found = connected(service, browser, reads_the_catalogue, memory=memory, document=site)

    assert found["scope_entries"]
    assert [client.client_id for client in OAuthClient.objects.all()] == [DOCUMENT]


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Only where the host is is changed, not how it is asked."""
    body = json.dumps({"client_id": DOCUMENT, "client_name": "A host", "redirect_uris": [REDIRECT]}).encode()

    class Handler(Answering):
        def get(self) -> None:
            self.answer(200, body)

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as place:

        class Led(Outbound):
            def get(self, url: str, *, headers: Mapping[str, str], seconds: float, limit: int) -> Answer:
                return super().get(place + urlsplit(url).path, headers=headers, seconds=seconds, limit=limit)

        monkeypatch.setattr(clients, "_client", Led(may_reach=addresses.is_anything))
        yield DOCUMENT
