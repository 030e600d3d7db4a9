"""The requests of a trip, ready to be sent, and the database that answers them."""

import base64
import json
import os
from itertools import cycle, product
from typing import Any

from bench.measuring import Server, Target
from bench.staging import PURPOSE, close_connections, make_apps, prepare
from consent_bridge.sealed import generate_connector_key, public_half

PEOPLE, EXPORT_OCTETS = 3000, 4096
# who make new requests: one app alone may make 1,000 an hour, and have five wait for one person; a prime, so that each
# person is asked by all of them in turn
REQUESTING_APPS = 41
DISCOVERING_APPS = 14  # who meet everybody for the first time
REQUESTED_SCOPES = (
    "identity.basic", "contact.email", "location.home", "professional.work", "lifestyle.fitness",
    "lifestyle.shopping", "lifestyle.habits", "technology.use", "interests.leisure", "brands.affinity",
)  # fmt: skip

Requests = dict[str, list[str]]


def prepared(url: str, **env: str) -> Requests:
    """Fill the empty database at this address; what is to be sent there, for each address that is measured."""
    settings = {"DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "config.settings", "LOG_LEVEL": "INFO", **env}
    os.environ.update(settings)
    prepare()
    from bench.population import BASE, copying, known_as, of_request, populate, user_id
    from developers.models import AppPerson

    sealed = "eyJh." + ".".join(_text(octets) for octets in (40, 12, EXPORT_OCTETS, 16))
    others = make_apps(REQUESTING_APPS)
    world = populate(PEOPLE, app_count=1, sealed=sealed)
    own, numbers = world.apps[0].token, range(BASE, BASE + PEOPLE)
    with copying() as copy:  # everybody under a name of their own for each other app
        copy(AppPerson(), (
            {"id": n + at * PEOPLE, "app_id": app.pk, "user_id": n, "pairwise_id": known_as(n + at * PEOPLE)}
            for at, app in enumerate(others, 1) for n in numbers
        ))  # fmt: skip
    close_connections()
    statuses = [of_request(n, place) for n in numbers for place in (0, 3)]
    keys = [public_half(generate_connector_key()) for _ in others]  # a key belongs to one app
    pairs = zip(product(REQUESTED_SCOPES, numbers), cycle(range(REQUESTING_APPS)))
    return {
        "bare": [f"GET /reference/{user_id(n)} HTTP/1.1\r\nHost: localhost\r\n\r\n" for n in numbers],
        # few enough people that the warm-up meets each of them: the day's first discovery of somebody is written down
        "discovery": [get(f"user-scopes/{known_as(n)}", own) for n in numbers[:100]],
        "first discovery": [
            get(f"user-scopes/{known_as(n + at * PEOPLE)}", others[at - 1].token)
            for at, n in product(range(1, DISCOVERING_APPS + 1), numbers)
        ],
        "status": [get(f"consent-status?request_id={request}", own) for request in statuses],
        "export 4 KiB": [get(f"consent-export?request_id={of_request(n)}", own) for n in numbers],
        "request": [
            ask(known_as(n + (at + 1) * PEOPLE), scope, keys[at], others[at].token) for (scope, n), at in pairs
        ],
    }


def targets_at(server: Server, requests: Requests) -> dict[str, Target]:
    return {name: Target(server, texts, 201 if name == "request" else 200) for name, texts in requests.items()}


def get(path: str, token: str) -> str:
    return f"GET /api/v1/{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"


def ask(person: str, scope: str, key: dict[str, Any], token: str) -> str:
    body = json.dumps(
        {
            "user_id": person, "scope": f"attr.{scope}.*", "purpose": PURPOSE, "connector_public_key": key,
            "connector_key_id": "bench", "connector_wrapping_alg": "ECDH-ES+A256KW",
        }
    )  # fmt: skip
    return post("/api/v1/request-consent", f"Authorization: Bearer {token}\r\n", body)


def post(path: str, headers: str, body: str, kind: str = "application/json") -> str:
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}"
        f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    )


def _text(octets: int) -> str:
    return base64.urlsafe_b64encode(os.urandom(octets)).decode().rstrip("=")
