"""Both clients, and the one for asyncio, over a real restart of the server: every event once, and the decision."""

import asyncio
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from consent.decisions import actions as decision_actions
from consent_bridge.aio import AsyncClient
from consent_bridge.client import Client
from tests.factories import ConsentRequestFactory
from tests.served_site import Served
from tests.system.bridge_js.node import ROOT, run

pytestmark = pytest.mark.django_db(transaction=True)
HERE = ROOT / "tests" / "system" / "bridge_js"


@pytest.fixture
def served():
    made = Served(killable=True)
    try:
        made.start()
        yield made
    finally:
        made.kill()
        made.close()


def follow(site, token):
    with Client(f"{site}/api/v1", token) as client:
        return [event.id for _, event in zip(range(3), client.events(0), strict=False)]


def follow_async(site, token):
    async def inside():
        seen = []
        async with AsyncClient(f"{site}/api/v1", token) as client:
            async for event in client.events(0):
                seen.append(event.id)
                if len(seen) == 3:
                    break
        return seen

    return asyncio.run(inside())


def follow_with_node(site, token, package):
    output = run(HERE / "three_events.mjs", SERVICE=site, TOKEN=token)
    return [int(line) for line in output.split()]


def decide(site, token, request_id):
    with Client(f"{site}/api/v1", token) as client:
        return client.wait_for_decision(request_id, timeout=90).status


def test_streams_resume_and_a_wait_goes_on_across_a_restart(served, package, app, api):
    requests = [ConsentRequestFactory(app=app) for _ in range(3)]

    def deny(request):
        decision_actions.deny(request_id=request.request_id, by=request.user)

    site, token = served.address, api.token
    with ThreadPoolExecutor(4) as pool:
        following = [pool.submit(follow, site, token), pool.submit(follow_async, site, token)]
        following.append(pool.submit(follow_with_node, site, token, package))
        deciding = pool.submit(decide, site, token, requests[2].request_id)
        deny(requests[0])
        served.send(signal.SIGTERM)
        code = served.exit_code()
        assert code == 0, served.log()[-4000:]  # a second server beside the first would say nothing about either
        deny(requests[1])  # while nobody serves
        served.start()
        deny(requests[2])
        seen = [future.result(90) for future in following]
        decided = deciding.result(90)

    assert seen == [[1, 2, 3]] * 3
    assert decided == "denied"
