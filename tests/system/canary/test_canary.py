"""After a whole trip, nothing of the person's values is in the database, the logs, or the server's memory."""

import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from consent_bridge.client import Client
from consent_bridge.keys import generate_connector_key
from consent_bridge.owner import Owner
from tests.factories import AppFactory, PersonFactory, TokenFactory, invitation_of
from tests.factories.accounts import PASSWORD
from tests.served_site import running_site
from tests.system.canary.kept import dump

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read through /proc"),
]
PASSPHRASE = "gravel lantern otter plum 7"


@pytest.fixture
def site(settings: Any) -> Iterator[str]:
    """A server of this test's own, so that its memory and its log hold this trip alone."""
    with running_site(DJANGO_SETTINGS_MODULE="config.settings") as address:
        settings.BASE_URL = settings.ISSUER = address
        yield address


def server_processes(site: str) -> list[int]:
    """Our server, its workers and whatever else it started."""
    port = site.rsplit(":", 1)[1]
    parents = {
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and f"--port\0{port}\0".encode() in _read(entry / "cmdline")
    }
    children = {
        int(child)
        for parent in parents
        for task in Path(f"/proc/{parent}/task").iterdir()
        for child in _read(task / "children").split()
    }
    return sorted(parents | children)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def memory_holds(pid: int, needles: dict[str, bytes]) -> set[str]:
    """Which of `needles` stand anywhere in this process's readable memory."""
    found: set[str] = set()
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            span, rights, *_ = line.split()
            if not rights.startswith("rw"):
                continue
            start, end = (int(part, 16) for part in span.split("-"))
            found |= _holds(memory.fileno(), start, end, needles)
    return found


def _holds(memory: int, start: int, end: int, needles: dict[str, bytes]) -> set[str]:
    step, overlap = 8 * 1024 * 1024, 256
    found: set[str] = set()
    for offset in range(start, end, step):
        try:
            piece = os.pread(memory, min(step + overlap, end - offset), offset)
        except OSError:
            continue  # a guard page
        found |= {name for name, needle in needles.items() if needle in piece}
    return found


def test_no_value_is_anywhere_on_the_server(site: str) -> None:
    canary, purpose = f"canary-{secrets.token_hex(16)}", f"Suggest restaurants {secrets.token_hex(8)}"
    person, token = PersonFactory(), TokenFactory(app=AppFactory()).secret
    owner, client = Owner(site), Client(f"{site}/api/v1", token)
    key = generate_connector_key()

    owner.sign_in(person.email, PASSWORD)
    code = owner.create_vault(PASSPHRASE)
    owner.write("lifestyle", "food", {"favorite_cuisine": canary}, base=0)
    made_request = client.request_consent(invitation_of(person), "attr.lifestyle.food.*", purpose=purpose, key=key)
    owner.approve(owner.review(made_request.request_id), invited=True)
    assert client.read(made_request, key).data == {"lifestyle": {"food": {"favorite_cuisine": canary}}}

    needles = {"value": canary.encode(), "passphrase": PASSPHRASE.encode(), "code": code.encode()}
    seen_by_design = {"purpose": purpose.encode()}
    owner.review(made_request.request_id)  # so that the server has just had the purpose in its hands
    logs = b"".join(path.read_bytes() for path in settings.VAR.rglob("*.log"))
    memory: set[str] = set()
    for pid in server_processes(site):
        memory |= memory_holds(pid, needles | seen_by_design)
    kept = dump()

    assert {name for name, needle in (needles | seen_by_design).items() if needle in kept} == {"purpose"}
    assert memory == {"purpose"}  # what the server may know is found, so the search does search
    assert not any(needle in logs for needle in needles.values())
    assert token.encode() not in logs
    assert b"/api/v1/consent-export" in logs
