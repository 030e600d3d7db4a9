"""A bank whose history comes in two waves, and cursors that no longer hold: nothing missing, nothing twice."""

import json
from datetime import timedelta
from typing import Any

import pytest

from accounts.models import User
from agents_proxy.analyses import steps
from agents_proxy.financial import items as linked_items
from agents_proxy.financial import refreshes
from agents_proxy.financial.models import Item, RefreshRun
from common.clock import database_now
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.institutions import coffees, linked, outcome, refreshed, there
from tests.agents_proxy.runs import finished, started
from tests.fakes.aggregator import Aggregator

LOST = ["TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION", "INVALID_FIELD"]


def ledger(item: Item) -> list[str]:
    return sorted(linked_items.content_of(Item.objects.get(pk=item.pk)).ledger)


def in_two_waves(person: User, bank: Aggregator) -> Item:
    """The newest month first; then the rest, with one of the first wave told once more."""
    item = linked(person, bank, *coffees(25))
    there(bank, item).older = [*coffees(120, first=26), *coffees(1, first=25), *coffees(500, first=181)]
    return item


def test_the_first_wave_is_read_as_such_and_the_second_added(bank: Aggregator, person: User) -> None:
    item = in_two_waves(person, bank)

    refreshed(item)
    first = linked_items.item_of(person, item.item_id)
    there(bank, item).backfill()
    refreshed(item)
    second = linked_items.item_of(person, item.item_id)

    assert (first["history"], first["transactions"]) == ("initial", 25)
    assert (second["history"], second["transactions"]) == ("complete", 145)
    assert len(ledger(item)) == 145


def test_what_is_still_coming_is_asked_for_again(bank: Aggregator, person: User) -> None:
    item = in_two_waves(person, bank)
    refreshed(item)

    assert refreshes.due_items() == []
    RefreshRun.objects.update(finished_at=database_now() - timedelta(minutes=11))
    assert refreshes.due_items() == [item]
    there(bank, item).backfill()
    refreshed(item)
    RefreshRun.objects.update(finished_at=database_now() - timedelta(minutes=11))
    assert refreshes.due_items() == []


def test_a_status_that_the_aggregator_does_not_know_changes_nothing(bank: Aggregator, person: User) -> None:
    item = linked(person, bank, *coffees(2))
    page = {"added": [], "modified": [], "removed": [], "next_cursor": "at-2", "has_more": False}
    unknown = json.dumps({**page, "transactions_update_status": "TRANSACTIONS_UPDATE_STATUS_UNKNOWN"}).encode()
    bank.fails["/transactions/sync"] = [unknown, None, unknown]

    found = [Item.objects.get(pk=refreshed(item).item_id).history for _ in range(3)]

    assert found == ["initial", "complete", "complete"]


@pytest.mark.django_db(transaction=True)
def test_the_first_analysis_waits_for_the_first_wave_and_the_second_has_both(
    bank: Aggregator, agents: Agents, person: User
) -> None:
    item = in_two_waves(person, bank)
    there(bank, item).ready = False
    refreshed(item)
    run = started(person)

    steps.run_through(run.pk)
    assert agents.requests == []
    there(bank, item).ready = True
    refreshed(item)
    steps.run_through(run.pk)
    first = brand_prompt(agents)
    there(bank, item).backfill()
    refreshed(item)
    finished(person)
    second = brand_prompt(agents)

    assert '"confidence":0.38' in first.replace(" ", "")
    assert '"confidence":0.9' in second.replace(" ", "")


def test_an_analysis_waits_no_longer_than_ten_minutes(bank: Aggregator, agents: Agents, person: User) -> None:
    item = linked(person, bank)
    there(bank, item).ready = False
    refreshed(item)
    Item.objects.update(created_at=database_now() - timedelta(minutes=11))
    run = started(person)

    steps.run_through(run.pk)

    assert "brand" in {agent for agent, _ in agents.requests}


@pytest.mark.parametrize("code", LOST)
def test_a_cursor_that_no_longer_holds_begins_anew_and_replaces(bank: Aggregator, person: User, code: str) -> None:
    """Cases that others met: a stored cursor is refused each time, and without one all is well."""
    item = linked(person, bank, *coffees(6))
    refreshed(item)
    there(bank, item).history = [("added", each) for each in coffees(3, merchant="Peet's")]
    bank.fails["/transactions/sync"] = [code] * (refreshes.MAX_RESTARTS if code == LOST[0] else 1)

    run = refreshed(item)

    assert outcome(run) == ("completed", "", 1, 3, 0, 0)
    assert ledger(item) == [f"t-Peet's-{day}" for day in (1, 2, 3)]
    assert Item.objects.get(pk=item.pk).cursor == "at-3"


def test_where_beginning_anew_fails_too_what_was_kept_stays(bank: Aggregator, person: User) -> None:
    item = linked(person, bank, *coffees(6))
    refreshed(item)
    bank.fails["/transactions/sync"] = ["INVALID_API_KEYS"] * 2

    run = refreshed(item)

    assert outcome(run)[:2] == ("failed", "aggregator_refused")
    assert (Item.objects.get(pk=item.pk).cursor, len(ledger(item))) == ("at-6", 6)


def brand_prompt(agents: Agents) -> str:
    """The prompt of the latest call to the brand agent."""
    found: Any = [body for agent, body in agents.requests if agent == "brand"][-1]
    return str(found["params"]["message"]["parts"][0]["text"])
