"""Linked institutions, against the stand-in for the aggregator."""

from typing import Any

from django.test import override_settings

from tests import factories
from tests.agents_proxy.institutions import agreed, coffees, linked, refreshed
from tests.corpus.plays.owners import refusals
from tests.corpus.stage import Caller, Stage
from tests.factories.agents import EVERY_PURPOSE
from tests.fakes.aggregator import Aggregator, aggregating

ROOT = "/api/a2a/financial"
LINKS, ITEMS, SIGNALS = f"{ROOT}/links", f"{ROOT}/items", f"{ROOT}/signals"
_FAULTS = ("ITEM_LOGIN_REQUIRED", "ITEM_NOT_FOUND", "RATE_LIMIT_EXCEEDED", "PRODUCT_NOT_READY", "INTERNAL_SERVER_ERROR")


def play(stage: Stage) -> None:
    person = factories.PersonFactory()
    owner = Caller.signed_in("owner", person)
    with override_settings(AGGREGATOR=None):
        _everywhere(stage, "no aggregator here", owner, "itm_unknown")
    with aggregating() as bank, override_settings(AGGREGATOR=bank.settings()):
        _everywhere(stage, "no consent", owner, "itm_unknown")
        _links(stage, person, owner, bank)
        _items(stage, person, owner, bank)
        _identity(stage, person, owner, bank)
        _removed(stage, person, owner, bank)


def _everywhere(stage: Stage, what: str, caller: Caller, item_id: str) -> None:
    stage.call(what, caller, "POST", LINKS, {})
    stage.call(what, caller, "GET", ITEMS)
    stage.call(what, caller, "GET", f"{ITEMS}/{item_id}")
    stage.call(what, caller, "DELETE", f"{ITEMS}/{item_id}")
    stage.call(what, caller, "POST", f"{ITEMS}/{item_id}/refreshes", {})
    stage.call(what, caller, "POST", f"{ITEMS}/{item_id}/identity", {})
    stage.call(what, caller, "GET", SIGNALS)


def _links(stage: Stage, person: Any, owner: Caller, bank: Aggregator) -> None:
    agreed(person)
    refusals(stage, owner, "POST", LINKS, {})
    stage.call("a visit", owner, "POST", LINKS, {})
    _faults(stage, bank, "/link/token/create", owner, "POST", LINKS, {})


def _faults(
    stage: Stage, bank: Aggregator, asked: str, owner: Caller, method: str, path: str, body: Any = None
) -> None:
    """Whatever the aggregator may answer to `asked`, and that it answers too late."""
    ended = ["ITEM_NOT_FOUND"] if asked == "/item/remove" else []  # then it is removed, and that is no fault
    for fault in (*(fault for fault in _FAULTS if fault not in ended), 502, b"no JSON"):
        bank.fails[asked] = [fault]
        stage.call(f"the aggregator says {fault!r}", owner, method, path, body)
    with override_settings(AGGREGATOR=bank.settings(timeout=0.1)):
        bank.fails[asked] = [0.3]
        stage.call("the aggregator takes too long", owner, method, path, body)
    bank.fails.clear()


def _items(stage: Stage, person: Any, owner: Caller, bank: Aggregator) -> None:
    stage.call("none yet", owner, "GET", ITEMS)
    stage.call("no signals yet", owner, "GET", SIGNALS)
    refusals(stage, owner, "GET", ITEMS)
    refusals(stage, owner, "GET", SIGNALS)
    item = linked(person, bank, *coffees(12))
    at = f"{ITEMS}/{item.item_id}"
    refusals(stage, owner, "GET", at)
    stage.call("linked", owner, "GET", at)
    refreshed(item)
    stage.call("read", owner, "GET", at)
    stage.call("all", owner, "GET", ITEMS)
    stage.call("what its purchases say", owner, "GET", SIGNALS)
    refusals(stage, owner, "POST", f"{at}/refreshes", {})
    stage.call("a refresh", owner, "POST", f"{at}/refreshes", {})
    stage.call("the same refresh", owner, "POST", f"{at}/refreshes", {})
    others = linked(factories.PersonFactory(), bank).item_id
    _everywhere(stage, "another person's", owner, others)
    stage.call("unknown", owner, "GET", f"{ITEMS}/itm_unknown")
    stage.call("unknown", owner, "DELETE", f"{ITEMS}/itm_unknown")
    stage.call("unknown", owner, "POST", f"{ITEMS}/itm_unknown/refreshes", {})


def _identity(stage: Stage, person: Any, owner: Caller, bank: Aggregator) -> None:
    item = linked(person, bank)
    at = f"{ITEMS}/{item.item_id}/identity"
    stage.call("no consent to who they are", owner, "POST", at, {})
    factories.ProcessingConsentFactory(user=person, purposes=EVERY_PURPOSE)
    refusals(stage, owner, "POST", at, {})
    stage.call("who the bank says they are", owner, "POST", at, {})
    _faults(stage, bank, "/identity/get", owner, "POST", at, {})
    stage.call("unknown", owner, "POST", f"{ITEMS}/itm_unknown/identity", {})


def _removed(stage: Stage, person: Any, owner: Caller, bank: Aggregator) -> None:
    item = linked(person, bank)
    at = f"{ITEMS}/{item.item_id}"
    refusals(stage, owner, "DELETE", at)
    with override_settings(AGGREGATOR=None):
        stage.call("linked while there was an aggregator", owner, "DELETE", at)
    _faults(stage, bank, "/item/remove", owner, "DELETE", at)
    stage.call("removed", owner, "DELETE", at)
    stage.call("removed twice", owner, "DELETE", at)
    stage.call("gone", owner, "GET", at)
