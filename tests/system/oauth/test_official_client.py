"""The official Python SDK's own OAuth client connects to the running service, with nothing pasted."""

import asyncio
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from developers.models import App, OAuthClient
from tests.factories import MemberFactory, give_vault
from tests.system.oauth.browser import Browser
from tests.system.oauth.conftest import DOCUMENT, REDIRECT

pytestmark = pytest.mark.django_db(transaction=True)


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


class Page:
    """What the SDK does with the browser, as its two handlers."""

    def __init__(self, browser: Browser) -> None:
        self.browser, self.brought = browser, dict[str, str]()

    async def opens(self, url: str) -> None:
        led = await asyncio.to_thread(self.browser.allow, url)
        self.brought = dict(parse_qsl(urlsplit(led).query))

    async def comes_back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**self.brought)


def connected(service: str, page: Page, act: Any, *, memory: Memory, document: str | None = None) -> Any:
    """`act(client)` with the SDK's client, which finds its way in by itself."""
    metadata = OAuthClientMetadata(redirect_uris=[REDIRECT], client_name="A host of the SDK")  # type: ignore[list-item]

    async def inside() -> Any:
        provider = OAuthClientProvider(
            f"{service}/mcp", metadata, memory, page.opens, page.comes_back, client_metadata_url=document
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

    found = connected(service, Page(Browser(service, person.email)), discovers, memory=memory)

    assert found["scopes"]
    assert App.objects.get(mode="personal").person == person
    assert memory.tokens is not None
    assert memory.tokens.scope == "discover request"


def test_the_sdk_refreshes_by_itself(service: str, person: Any) -> None:
    give_vault(person)
    memory = Memory()
    page = Page(Browser(service, person.email))
    connected(service, page, discovers, memory=memory)
    assert memory.tokens is not None
    first = memory.tokens
    memory.tokens = first.model_copy(update={"access_token": "cr_oauth_gone", "expires_in": -1})
    page.brought = {}

    connected(service, page, discovers, memory=memory)

    assert memory.tokens.access_token != first.access_token


def test_a_host_with_a_metadata_document_acts_for_an_app(service: str, person: Any, site: str, app: App) -> None:
    MemberFactory(app=app, user=person, role="member")
    memory = Memory()
    page = Page(Browser(service, person.email, app.app_id))

    found = connected(service, page, reads_the_catalogue, memory=memory, document=site)

    assert found["scope_entries"]
    assert [client.client_id for client in OAuthClient.objects.all()] == [DOCUMENT]
