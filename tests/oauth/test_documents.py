"""A client whose metadata lies at the address that is its ID."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from common import addresses
from common.outbound.client import Answer, Client
from developers.models import OAuthClient
from developers.oauth import clients
from tests.factories import PersonFactory
from tests.fakes.serving import Answering, serving
from tests.oauth.hosts import REDIRECT, OAuthHost

pytestmark = pytest.mark.django_db
ADDRESS = "https://host.example/oauth/client.json"
DOCUMENT = {"client_id": ADDRESS, "client_name": "Host with an address", "redirect_uris": [REDIRECT]}


@dataclass
class Site:
    """What lies at every address of the host; `paths` are those asked for."""

    body: bytes = json.dumps(DOCUMENT).encode()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Only where the host is is changed, not how it is asked."""
    made = Site()

    class Handler(Answering):
        def get(self) -> None:
            made.paths.append(self.path)
            self.answer(made.status, made.body, made.headers)

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as place:

        class Led(Client):
            def get(self, url: str, *, headers: Mapping[str, str], seconds: float, limit: int) -> Answer:
                return super().get(place + urlsplit(url).path, headers=headers, seconds=seconds, limit=limit)

        monkeypatch.setattr(clients, "_client", Led(may_reach=addresses.is_host))
        yield made


def test_a_host_with_a_document_connects_and_its_host_is_shown(site: Site) -> None:
    user, host = PersonFactory(), OAuthHost(ADDRESS)

    page = host.look(user).content.decode()
    tokens = host.connect(user)

    assert "Host with an address" in page
    assert "host.example" in page
    assert tokens["scope"] == "discover request"
    assert site.paths == ["/oauth/client.json"]  # kept for a day


def test_a_document_is_fetched_again_after_a_day(site: Site) -> None:
    user, host = PersonFactory(), OAuthHost(ADDRESS)
    host.look(user)
    OAuthClient.objects.update(fetched_at=timezone.now() - timedelta(hours=25))
    site.body = json.dumps({**DOCUMENT, "redirect_uris": ["https://host.example/new"]}).encode()

    assert host.look(user).status_code == 400  # it does not name the old address any more
    assert host.look(user, redirect_uri="https://host.example/new").status_code == 200
    assert len(site.paths) == 2


@pytest.mark.parametrize(
    "changed",
    [
        {"body": json.dumps({**DOCUMENT, "client_id": ADDRESS + "/"}).encode()},
        {"body": json.dumps({**DOCUMENT, "token_endpoint_auth_method": "private_key_jwt"}).encode()},
        {"body": json.dumps({**DOCUMENT, "redirect_uris": ["http://host.example/cb"]}).encode()},
        {"body": json.dumps({**DOCUMENT, "more": "x" * 5000}).encode()},
        {"body": b"<html>"},
        {"body": b"[]"},
        {"status": 404},
        {"status": 302, "headers": {"Location": "https://host.example/other.json"}},
    ],
)
def test_what_no_document_is(site: Site, changed: dict[str, Any]) -> None:
    for name, value in changed.items():
        setattr(site, name, value)

    answer = OAuthHost(ADDRESS).look(PersonFactory())

    assert 400 <= answer.status_code <= 401
    assert not OAuthClient.objects.exists()
    assert len(site.paths) == 1


def test_a_key_of_its_own_lets_it_read_and_asks_in_its_name(site: Site) -> None:
    from consent_bridge import sealed  # noqa: F401
    from tests.consent.connector_keys.test_registering import jwk
    from tests.consent.tools.hosts import Host
    from tests.factories import give_vault

    user = PersonFactory()
    give_vault(user)
    site.body = json.dumps({**DOCUMENT, "jwks": {"keys": [{**jwk(), "kid": "of-host"}]}}).encode()

    tokens = OAuthHost(ADDRESS).connect(user)
    me = Host(tokens["access_token"])
    scope = me.answer("discover_user_scopes")["scopes"][0]
    answer = me.answer("request_consent", {"scope": scope, "purpose": "Plan a week of meals"})

    assert tokens["scope"] == "discover request read"
    assert answer["connector_key_id"] == "of-host"
    assert answer["status"] == "pending"


def test_the_key_of_a_host_serves_all_its_people_and_no_other_host(site: Site) -> None:
    from tests.consent.connector_keys.test_registering import jwk
    from tests.consent.tools.hosts import Host
    from tests.factories import give_vault

    document = {**DOCUMENT, "jwks": {"keys": [{**jwk(), "kid": "of-host"}]}}

    def asks(address: str) -> Any:
        user = PersonFactory()
        give_vault(user)
        site.body = json.dumps({**document, "client_id": address}).encode()
        me = Host(OAuthHost(address).connect(user)["access_token"])
        scope = me.answer("discover_user_scopes")["scopes"][0]
        return me.call("request_consent", {"scope": scope, "purpose": "Plan a week of meals"})

    assert [asks(ADDRESS)["isError"] for _ in range(2)] == [False, False]
    assert asks("https://other.example/oauth/client.json")["isError"] is True
