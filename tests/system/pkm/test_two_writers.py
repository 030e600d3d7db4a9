"""Two devices of one person write at the real addresses: what was acknowledged is there at the end, or was refused."""

import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from consent_bridge.errors import Problem
from consent_bridge.owner import Owner
from tests.factories import PersonFactory, Vault, give_vault
from tests.factories.accounts import PASSWORD
from tests.patience import MOST_SECONDS
from tests.served_site import running_site

pytestmark = pytest.mark.django_db(transaction=True)
WRITES = 2  # of each writer in one interleaving
LONGEST_PAUSE = 0.006  # about as long as a write takes, so that reads of one fall between reads and writes of the other
PLACE = ("lifestyle", "food")


@pytest.fixture
def vault() -> Vault:
    return give_vault(PersonFactory(), {PLACE: {"begin": 0}})


@pytest.fixture
def writers(vault: Vault) -> Iterator[list[Owner]]:
    with running_site() as address, Owner(address) as one, Owner(address) as other:
        for owner in (one, other):
            owner.sign_in(vault.user.email, PASSWORD)
            owner.unlock(recovery_code=vault.recovery_code)
        yield [one, other]


class Writer:
    """One device: it reads, thinks, and adds a fact of its own to what it read."""

    def __init__(self, owner: Owner, name: str, seed: int) -> None:
        self.owner, self.name, self.chance = owner, name, random.Random(f"{seed}{name}")
        self.acknowledged: dict[str, int] = {}
        self.refused: dict[str, str] = {}

    def write(self, both_have_read: threading.Barrier) -> None:
        for number in range(WRITES):
            (seen,) = self.owner.segments(domain=PLACE[0])
            fact = f"{self.name}_{number}"
            if number == 0:
                both_have_read.wait(MOST_SECONDS)
            self._pause()
            try:
                written = self.owner.write(*PLACE, {**seen.values, fact: 1}, base=seen.content_revision)
            except Problem as problem:
                self.refused[fact] = problem.code
            else:
                self.acknowledged[fact] = written.content_revision

    def _pause(self) -> None:
        time.sleep(self.chance.random() * LONGEST_PAUSE)


@pytest.mark.long("two hundred interleavings; in short forty")
def test_what_was_acknowledged_stands_and_the_rest_was_refused_as_stale(writers: list[Owner], long_form: bool) -> None:
    interleavings = 200 if long_form else 40
    with ThreadPoolExecutor(2) as pool:
        for seed in range(interleavings):
            (before,) = writers[0].segments(domain=PLACE[0])
            begun = writers[0].write(*PLACE, {"begin": seed}, base=before.content_revision).content_revision
            both = [Writer(owner, name, seed) for owner, name in zip(writers, "ab", strict=True)]
            both_have_read = threading.Barrier(2)
            for done in [pool.submit(writer.write, both_have_read) for writer in both]:
                done.result()

            (after,) = writers[1].segments(domain=PLACE[0])
            acknowledged = both[0].acknowledged | both[1].acknowledged
            assert after.values == {"begin": seed} | dict.fromkeys(acknowledged, 1), f"seed {seed}"
            assert sorted(acknowledged.values()) == list(range(begun + 1, after.content_revision + 1)), f"seed {seed}"
            stale = both[0].refused | both[1].refused
            assert set(stale.values()) <= {"stale_revision"}
            assert len(acknowledged) + len(stale) == 2 * WRITES
            assert stale  # of the first ones, which both had read the same, one came second
