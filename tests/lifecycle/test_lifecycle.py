"""The whole lifecycle against a model, over HTTP: any order of steps, and the service never disagrees.

A short run in `./run test`, a longer one in `./run prove`, any with LIFECYCLE_RUNS and LIFECYCLE_STEPS (and -s -n0).
LIFECYCLE_SEED draws other ones.
"""

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.servers.basehttp import WSGIRequestHandler
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from consent.ledger import verifying
from consent.log.sequencing import sequence_and_sign
from tests.chains import verify_log
from tests.lifecycle import expected_answers
from tests.lifecycle.around import Lifecycle
from tests.lifecycle.clock import movable_database_clock
from tests.lifecycle.transport import Transport

RUNS = int(os.environ.get("LIFECYCLE_RUNS", "0"))  # all with one seed; 0: as the form of the test has it
STEPS = int(os.environ.get("LIFECYCLE_STEPS", "0"))
SEED = int(os.environ.get("LIFECYCLE_SEED", "20261120"))
SEEDS = range(SEED, SEED + (1 if RUNS else 12))
pytestmark = pytest.mark.django_db(transaction=True)  # the server answers over connections of its own


@pytest.fixture(autouse=True)
def _clock_can_be_moved(transactional_db: None) -> Iterator[None]:
    with movable_database_clock():
        yield


@pytest.fixture
def transport(service: str) -> Transport:
    return Transport(service)


@pytest.fixture(autouse=True)
def _limits_within_reach(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small enough for a short run to meet them; the pace of polls is kept by another clock and tested elsewhere."""
    settings.PENDING_REQUESTS_PER_PERSON = expected_answers.MOST_PENDING
    settings.UNKNOWN_USERS_PER_HOUR = expected_answers.MOST_MISSES
    settings.REQUESTS_PER_PERSON_PER_DAY = expected_answers.MOST_A_DAY
    settings.REQUEST_BUDGET_PER_HOUR = 0  # where Redis counts it, its clock does not stand still
    settings.DENIAL_COOLDOWN_SECONDS = int(expected_answers.COOLDOWN.total_seconds())
    settings.STATUS_POLL_BURST = 0
    monkeypatch.setattr("consent.notices.streams.KEEP_ALIVE", 0.2)  # a stream notices soon that its reader left
    # Django's own server writes headers and body apart, and each body would wait 40 ms for an acknowledgement
    monkeypatch.setattr(WSGIRequestHandler, "disable_nagle_algorithm", True)


@pytest.fixture(scope="module")
def total() -> Counter[str]:
    return Counter()


@pytest.mark.long("25 runs of 50 steps for each seed; in short 2 of 30")
@pytest.mark.parametrize("of_seed", SEEDS)
def test_the_service_does_what_the_model_does(
    transport: Transport, long_form: bool, of_seed: int, total: Counter[str]
) -> None:
    runs, steps = (25, 50) if long_form else (2, 30)
    runs, steps = RUNS or runs, STEPS or steps

    class Machine(Lifecycle):
        pass

    Machine.transport = transport
    sys.stdout.write(f"LIFECYCLE_SEED={of_seed}\n")  # shown where the test fails, and with -s
    began = time.monotonic()
    # no shrinking: it takes longer than reading the steps, which are printed as they were
    run_state_machine_as_test(
        seed(of_seed)(Machine),
        settings=settings(
            max_examples=runs, stateful_step_count=steps, deadline=None, database=None, derandomize=False,
            phases=[Phase.generate], suppress_health_check=list(HealthCheck), print_blob=False,
        ),
    )  # fmt: skip
    sequence_and_sign()
    total.update(runs=runs, steps=Machine.steps, milliseconds=round((time.monotonic() - began) * 1000))
    sys.stdout.write(f"{total['runs']} runs, {total['steps']} steps in {total['milliseconds'] // 1000} s\n")
    sys.stdout.write(", ".join(f"{what} {count}" for what, count in sorted(Machine.met.items())) + "\n")

    assert [*verifying.verify(), *verify_log()] == []
