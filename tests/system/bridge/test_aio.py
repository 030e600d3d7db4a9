"""The asynchronous client against the real application."""

import asyncio

import pytest

from consent.notices.long_polling import hub
from consent_bridge.aio import AsyncClient
from consent_bridge.errors import Problem
from consent_bridge.sealed import generate_connector_key
from tests.callers import Developer
from tests.factories import TestAppFactory, invitation_of
from tests.patience import eventually
from tests.system.bridge.steps import CUISINE, PURPOSE, SCOPE


def test_trip_while_events_are_followed(service, api, owner, person, monkeypatch):
    monkeypatch.setattr("consent.notices.streams.KEEP_ALIVE", 0.2)
    key, invitation = generate_connector_key(), invitation_of(person)

    async def follow(client):
        events = client.events(0)
        try:
            return await asyncio.wait_for(anext(events), 20)
        finally:
            await events.aclose()

    async def go():
        async with AsyncClient(f"{service}/api/v1", api.token) as client:
            made_request = await client.request_consent(invitation, SCOPE, purpose=PURPOSE, key=key)
            following = asyncio.create_task(follow(client))
            waiting = asyncio.create_task(client.wait_for_decision(made_request.request_id, timeout=30))
            await asyncio.to_thread(eventually, lambda: hub.waiters_of(api.app.pk) == 2, "both calls")
            review = await asyncio.to_thread(owner.review, made_request.request_id)
            await asyncio.to_thread(owner.approve, review, attributes=[CUISINE], invited=True)
            status, event = await waiting, await following
            return status, event, await client.read(made_request, key), await client.receipt(status.receipt_id)

    status, event, opened, receipt = asyncio.run(go())

    assert (status.status, event.status.status, event.id) == ("approved", "approved", status.sequence)
    assert opened.data == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
    assert receipt.claims["event"]["type"] == "approved"


def test_people_are_played_without_a_browser(service, transactional_db):
    api, key = Developer.of(TestAppFactory()), generate_connector_key()

    async def go():
        async with (
            AsyncClient(f"{service}/api/v1", api.token) as client,
            await client.make_sandbox_person("Ada") as ada,
        ):
            await ada.fill()
            made_request = await client.request_consent(ada.user_id, SCOPE, purpose=PURPOSE, key=key)
            waiting = asyncio.create_task(client.wait_for_decision(made_request.request_id, timeout=30))
            await asyncio.gather(ada.segments(), ada.segments(domain="lifestyle"))  # at once: one after the other
            again = client.sandbox_person(ada.user_id, ada.vault_key)
            approved = await again.approve(made_request.request_id, attributes=[CUISINE])
            opened, status = await client.read(made_request, key), await waiting
            moved = [await move(approved.grant.grant_id) for move in (ada.pause, ada.resume, ada.revoke)]
            other = await client.request_consent(ada.user_id, "attr.lifestyle.*", purpose=PURPOSE, key=key)
            denied = await ada.deny(other.request_id)
            people = [person.label for person in await client.sandbox_people()]
        async with AsyncClient(f"{service}/api/v1", api.token) as client:
            with pytest.raises(Problem) as gone:
                await client.discover(ada.user_id)
        return opened, status, moved, denied, people, gone.value.code

    opened, status, moved, denied, people, gone = asyncio.run(go())

    assert opened.data == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
    assert [status.status, denied.status, people, gone] == ["approved", "denied", ["Ada"], "unknown_user"]
    assert [move.grant.status for move in moved] == ["paused", "active", "revoked"]
