"""A host whose metadata lies at the address that is its ID."""

import json
from collections.abc import Iterator, Mapping
from http.server import ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from common import addresses
from common.outbound.client import Answer
from common.outbound.client import Client as Outbound
from developers.oauth import clients
from tests.fakes.serving import Answering, serving

DOCUMENT, REDIRECT = "https://host.example/oauth/client.json", "http://127.0.0.1:33418/callback"


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

        monkeypatch.setattr(clients, "_client", Led(may_reach=addresses.is_host))
        yield DOCUMENT
