"""One budget that fifty processes spend at once, through several servers: exactly as many requests as it allows."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from django.conf import settings as configured

from accounts.models import User
from consent.requests.models import ConsentRequest
from consent_bridge import sealed
from tests.consent.api.addresses import request_body
from tests.counts import PLACES, counts_in
from tests.factories import AppFactory, PersonFactory, TokenFactory, give_vault
from tests.served_site import running_site

CALLERS, CALLS, ALLOWED, SERVERS = 50, 4, 77, 2
pytestmark = pytest.mark.django_db(transaction=True)

# A caller: says that it is ready, waits for a line, sends what it was given, and prints what came of each. On a slow
# machine SQLite's writers wait for each other longer than its 20 seconds; the answer is then 503, nothing has changed,
# and it comes back when the answer says so.
_CALLER = """
import http.client, json, sys, time
job = json.loads(sys.stdin.readline())
connection = http.client.HTTPConnection("localhost", job["port"], timeout=120)
connection.connect()
print("ready", flush=True)
sys.stdin.readline()
for body in job["bodies"]:
    status = 503
    while status == 503:
        connection.request("POST", "/api/v1/request-consent", json.dumps(body), job["headers"])
        answer = connection.getresponse()
        status, reply = answer.status, json.loads(answer.read())
        time.sleep(int(answer.headers["Retry-After"]) if status == 503 else 0)
    print(reply.get("code", status))
"""


@pytest.fixture(params=PLACES)
def store(request: pytest.FixtureRequest, transactional_db: None) -> Iterator[str]:
    """The address of Redis where counts are kept there, "" where the database has them."""
    with counts_in(request.param):
        yield configured.REDIS_URL


def bodies(people: list[User]) -> list[dict[str, object]]:
    """New requests each: another key."""
    keys = [sealed.public_half(sealed.generate_connector_key()) for _ in range(CALLS)]
    return [request_body(people[number % len(people)], connector_public_key=key) for number, key in enumerate(keys)]


def caller(stack: ExitStack, job: dict[str, object]) -> subprocess.Popen[str]:
    process = stack.enter_context(
        subprocess.Popen(
            [sys.executable, "-S", "-c", _CALLER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
    )
    stack.callback(process.kill)
    assert process.stdin is not None
    process.stdin.write(json.dumps(job) + "\n")
    process.stdin.flush()
    return process


def test_fifty_processes_spend_exactly_what_is_allowed(store: str) -> None:
    token = TokenFactory(app=AppFactory()).secret
    people = [give_vault(PersonFactory()).user for _ in range(5)]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    own = {
        "REQUEST_BUDGET_PER_HOUR": str(ALLOWED), "PENDING_REQUESTS_PER_PERSON": "0",
        "REQUESTS_PER_PERSON_PER_DAY": "0", "REDIS_URL": store,
    }  # fmt: skip

    with ExitStack() as stack:
        ports = [int(stack.enter_context(running_site(**own)).rsplit(":", 1)[1]) for _ in range(SERVERS)]
        callers = [
            caller(stack, {"port": ports[number % SERVERS], "headers": headers, "bodies": bodies(people)})
            for number in range(CALLERS)
        ]
        for process in callers:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in callers:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        outcomes = Counter(line for process in callers for line in process.communicate(timeout=300)[0].split())

    assert outcomes == {"201": ALLOWED, "request_budget_spent": CALLERS * CALLS - ALLOWED}
    assert ConsentRequest.objects.count() == ALLOWED
