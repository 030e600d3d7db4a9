"""What a served process does beside its answers: on two threads, and nothing of it lost when it is asked to end."""

import re
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from django.conf import settings

from accounts.models import User
from agents_proxy.analyses.models import Run
from consent.discovery.models import Discovery
from developers.models import App, LoggedRequest
from tests.agents_proxy.proxy_calls import owning
from tests.callers import Developer, signed_in
from tests.factories import ConsentRequestFactory, give_vault, known_as
from tests.patience import MOST_SECONDS, eventually
from tests.served_site import Served, holds_all_it_may

pytestmark = pytest.mark.django_db(transaction=True)
# the main thread, granian's that answer, and those that psycopg's pool of connections has of its own
OF_OTHERS = re.compile(r"MainThread|Dummy-\d+|pool-\d+-(worker|scheduler)(-\d+)?")


@pytest.fixture
def served() -> Iterator[Served]:
    made = Served(
        killable=True, DJANGO_SETTINGS_MODULE="tests.system.config.threads_settings", STATUS_WAITERS_PER_APP="1"
    )
    try:
        made.start()
        yield made
    finally:
        made.kill()
        made.close()


def bearer(api: Developer) -> dict[str, str]:
    return {"Authorization": f"Bearer {api.token}"}


def hold(served: Served, api: Developer, app: App) -> threading.Thread:
    """A long poll, so that the process listens to the database."""
    query = {"request_id": ConsentRequestFactory(app=app).request_id, "wait": "30"}
    address = f"{served.address}/api/v1/consent-status"
    waiting = threading.Thread(
        target=requests.get, args=(address, query), kwargs={"headers": bearer(api), "timeout": 60}
    )
    waiting.start()
    eventually(lambda: holds_all_it_may(served.address, api.token), "the long poll")
    return waiting


def start_analysis(served: Served, person: User) -> None:
    """What tells the worker."""
    session = signed_in(owning(person)).client.cookies[settings.SESSION_COOKIE_NAME].value
    cookies = {settings.SESSION_COOKIE_NAME: session, settings.CSRF_COOKIE_NAME: "t" * 32}
    body = {"email": person.email, "fullName": "Ada Lovelace", "countryCode": "+49", "phoneNumber": "15112345678"}
    answer = requests.post(
        f"{served.address}/api/a2a/analyses", json={**body, "agreed": True}, cookies=cookies,
        headers={"X-CSRFToken": "t" * 32, "Origin": served.address}, timeout=60,
    )  # fmt: skip
    assert answer.status_code == 202, answer.text


def own_threads(served: Served) -> list[str]:
    names = requests.get(f"{served.address}/threads/", timeout=60).json()["names"]
    return [name for name in names if not OF_OTHERS.fullmatch(name)]


def test_a_process_has_two_threads_of_its_own_whatever_it_does(
    served: Served, app: App, api: Developer, person: User
) -> None:
    give_vault(person)
    name = known_as(app, person)
    waiting = hold(served, api, app)
    for _ in range(3):
        discovered = requests.get(f"{served.address}/api/v1/user-scopes/{name}", headers=bearer(api), timeout=60)
        assert discovered.status_code == 200, discovered.text
        assert own_threads(served) == ["background", "events"]
    start_analysis(served, person)

    assert own_threads(served) == ["background", "events"]
    eventually(LoggedRequest.objects.exists, "the request log")
    eventually(lambda: Discovery.objects.get().count == 3, "the counts of discoveries")
    assert own_threads(served) == ["background", "events"]
    assert Run.objects.get(user=person).status == "queued"
    served.send(signal.SIGTERM)
    waiting.join(MOST_SECONDS)
    assert served.exit_code() == 0


def test_what_was_gathered_is_written_before_a_process_ends(app: App, api: Developer, person: User) -> None:
    give_vault(person)
    name = known_as(app, person)
    made = Served(
        killable=True,
        DJANGO_SETTINGS_MODULE="tests.system.config.threads_settings",
        FLUSH_SECONDS="3600",
    )
    try:
        made.start()
        for number in range(5):
            headers = {**bearer(api), "X-Request-Id": f"call-number-{number}"}
            address = f"{made.address}/api/v1/user-scopes/{name}"
            assert requests.get(address, headers=headers, timeout=60).status_code == 200
        assert not LoggedRequest.objects.exists()
        made.send(signal.SIGTERM)
        code = made.exit_code()
    finally:
        made.kill()
        made.close()

    assert code == 0
    assert Discovery.objects.get().count == 5
    kept: Any = LoggedRequest.objects.order_by("trace_id").values_list("trace_id", flat=True)
    assert list(kept) == [f"call-number-{number}" for number in range(5)]
