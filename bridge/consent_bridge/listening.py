"""`consent-bridge events` and `listen`: what happens to an app's requests, printed, and as webhooks to a laptop."""

from __future__ import annotations

import base64
import json
import secrets
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import requests

from consent_bridge import webhooks
from consent_bridge.client import Client
from consent_bridge.commands import address_and_token
from consent_bridge.errors import BadAnswer, one_line
from consent_bridge.results import as_json
from consent_bridge.streams import Event
from consent_bridge.transport import anonymous, checked_base_url

EVENTS_ABOUT = (
    "print what happens to your requests, as it happens",
    "One line of JSON for each event: id, type (that of the webhook which tells the same) and data.",
)
LISTEN_ABOUT = (
    "forward what happens as webhooks to an address of this machine",
    "Signs each event as the service signs webhooks and posts it, so that a receiver can be tried where no webhook "
    "reaches. It is sent once: what the receiver did not take is sent again with --last-event-id.",
)
_SECONDS = 30.0  # that a receiver has


def add_options(parser: ArgumentParser, count: Callable[[str], int]) -> None:
    """Where both begin and end."""
    text = "go on after this event; 0 for everything that is kept; left out: from now on"
    parser.add_argument("--last-event-id", type=int, metavar="ID", help=text)
    parser.add_argument("--count", type=count, metavar="N", help="end after so many; left out: never")


def add_forwarding(parser: ArgumentParser) -> None:
    """Where `listen` sends, and what it signs with."""
    parser.add_argument("--forward", required=True, metavar="URL", help="such as http://localhost:3000/webhooks")
    text = "what your receiver verifies with, whsec_…; left out: one is made and told on standard error"
    parser.add_argument("--secret", metavar="SECRET", help=text)


def events_command(options: Namespace) -> None:
    for event in _happening(options):
        _print_line({"id": event.id, "type": _type(event), "data": _data(event)})


def listen_command(options: Namespace) -> None:
    """Forward them, and print how each was answered."""
    url, secret = checked_base_url(options.forward, "--forward"), options.secret
    if secret is None:
        secret = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
        sys.stderr.write(f"consent-bridge: signs with {secret}\n")
    webhooks.sign(b"", "", 0, secret)  # a secret that is none is told now
    with requests.Session() as session:
        session.auth, session.trust_env = anonymous, False
        for event in _happening(options):
            _print_line({"id": event.id, "type": _type(event), **_forwarded(session, url, secret, event)})


def _happening(options: Namespace) -> Iterator[Event]:
    with Client(*address_and_token(options)) as client, closing(client.events(options.last_event_id)) as events:  # type: ignore[type-var]
        yield from islice(events, options.count)


def _type(event: Event) -> str:
    if event.status is not None and not event.webhook_type:
        raise BadAnswer("this service does not say which webhook an event is")
    return event.webhook_type or event.type


def _data(event: Event) -> dict[str, Any]:
    return as_json(event.status or event.processing or event.connection)


def _forwarded(session: requests.Session, url: str, secret: str, event: Event) -> dict[str, Any]:
    timestamp = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    body = json.dumps({"type": _type(event), "timestamp": timestamp, "data": _data(event)}).encode()
    headers = webhooks.sign(body, f"evt_{event.id}", int(time.time()), secret)
    headers["Content-Type"] = "application/json"
    try:
        with session.post(url, body, headers=headers, timeout=_SECONDS, allow_redirects=False, stream=True) as answer:
            return {"answered": answer.status_code}
    except (requests.RequestException, OSError) as error:
        return {"answered": None, "error": one_line(f"POST {url} failed: {type(error).__name__}")}


def _print_line(line: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    sys.stdout.buffer.flush()
