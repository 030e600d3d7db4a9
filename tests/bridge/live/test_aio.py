"""The asynchronous client against the real application."""

import asyncio

from consent_bridge.aio import AsyncClient
from consent_bridge.sealed import generate_connector_key
from tests.bridge.live.steps import CUISINE, PURPOSE, SCOPE


def test_trip_while_events_are_followed(service, api, owner, person, monkeypatch):
    monkeypatch.setattr("consent.notices.streams.KEEP_ALIVE", 0.2)
    key = generate_connector_key()

    async def follow(client):
        events = client.events(0)
        try:
            return await asyncio.wait_for(anext(events), 20)
        finally:
            await events.aclose()

    async def go():
        async with AsyncClient(f"{service}/api/v1", api.token) as client:
            asked = await client.request_consent(person.public_id, SCOPE, purpose=PURPOSE, key=key)
            following = asyncio.create_task(follow(client))
            waiting = asyncio.create_task(client.wait_for_decision(asked.request_id, timeout=30))
            await asyncio.sleep(0.3)
            review = await asyncio.to_thread(owner.review, asked.request_id)
            await asyncio.to_thread(owner.approve, review, attributes=[CUISINE])
            status, event = await waiting, await following
            return status, event, await client.read(asked, key), await client.receipt(status.receipt_id)

    status, event, opened, receipt = asyncio.run(go())

    assert (status.status, event.status.status, event.id) == ("approved", "approved", status.sequence)
    assert opened.data == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
    assert receipt.claims["event"]["type"] == "approved"
