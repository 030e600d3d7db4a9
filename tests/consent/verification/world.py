"""Two people, three apps and what happened between them, all of it by the program's own actions."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest

from consent.decisions import actions as decision_actions
from consent.exports.models import Read
from consent.exports.read_batches import chain_pending_reads
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger import audit
from consent.requests.models import ConsentRequest
from developers.models import App
from tests.consent.decisions import approval
from tests.consent.test_races import app_context
from tests.consent.test_reading import read
from tests.factories import AppFactory, ConsentRequestFactory, PersonFactory, Vault, give_vault
from tests.undone import undone

CUISINE, DIET = "lifestyle.food.favorite_cuisine", "lifestyle.food.diet_preference"


@dataclass
class World:
    """Ada shared with the shop (read three times), stopped sharing with the bank, holds the club back, denied the shop
    once more, and lets the bank wait for an answer. Ben shared with the shop, which read once."""

    ada: Vault
    ben: Vault
    shop: App
    live: Grant
    stopped: Grant
    paused: Grant
    of_ben: Grant
    denied: ConsentRequest
    waiting: ConsentRequest

    @property
    def chain(self) -> str:
        """The name of Ada's."""
        return _name(audit.person_chain(self.ada.user.public_id))

    @property
    def bens_chain(self) -> str:
        return _name(audit.person_chain(self.ben.user.public_id))

    @property
    def shops_chain(self) -> str:
        return _name(audit.app_chain(self.shop.app_id))

    def reads(self) -> list[Read]:
        """What the shop read of Ada's, in the order of their keys."""
        return list(Read.objects.filter(grant=self.live).order_by("pk"))


def _name(subject: str) -> str:
    found = audit.chain_id(subject)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def made_world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """The rows of a world, made once for the tests of a module, which take them as `shared_world`."""
    with undone(django_db_blocker):
        yield make_world()


@pytest.fixture
def shared_world(made_world: World, django_db_blocker: Any) -> Iterator[World]:
    with undone(django_db_blocker):
        yield deepcopy(made_world)


def make_world() -> World:
    ada, ben = give_vault(PersonFactory()), give_vault(PersonFactory())
    shop, bank, club = AppFactory.create_batch(3)
    live = approved(shop, ada)
    stopped, paused = approved(bank, ada), approved(club, ada)
    grant_actions.revoke(grant_id=stopped.grant_id, by=ada.user)
    grant_actions.pause(grant_id=paused.grant_id, by=ada.user)
    of_ben = approved(shop, ben)
    _read(live, 3)
    _read(of_ben, 1)
    assert chain_pending_reads() == 4
    denied = ConsentRequestFactory(app=shop, user=ada.user)
    decision_actions.deny(request_id=denied.request_id, by=ada.user)
    return World(
        ada=ada,
        ben=ben,
        shop=shop,
        live=Grant.objects.get(pk=live.pk),
        stopped=Grant.objects.get(pk=stopped.pk),
        paused=Grant.objects.get(pk=paused.pk),
        of_ben=Grant.objects.get(pk=of_ben.pk),
        denied=ConsentRequest.objects.get(pk=denied.pk),
        waiting=ConsentRequestFactory(app=bank, user=ada.user),
    )


def approved(app: App, vault: Vault) -> Grant:
    request = ConsentRequestFactory(app=app, user=vault.user, max_reads=50)
    body = approval(request, vault, [CUISINE])
    decision_actions.approve(request_id=request.request_id, by=vault.user, body=body)
    return Grant.objects.select_related("request", "app").get(request=request)


def _read(grant: Grant, times: int) -> None:
    app = app_context(grant)
    for _ in range(times):
        read(grant, app)
