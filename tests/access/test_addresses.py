"""Who is answered what, at every address there is, and what is true of every answer."""

import re
from collections import Counter
from typing import Any

import pytest

from tests.access.callers import Caller
from tests.access.invariants import faults, in_short
from tests.access.routes import every_route
from tests.access.sending import Answer
from tests.access.walk import Walk, all_well, every_address, welcome
from tests.access.world import ABSENT
from tests.addresses import ADDRESSES, Address

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def test_every_route_is_in_the_register_and_nothing_else() -> None:
    assert {address.route for address in ADDRESSES} == set(every_route())


def test_no_address_is_there_twice() -> None:
    assert [name for name, count in Counter(address.name for address in ADDRESSES).items() if count > 1] == []


@every_address
def test_every_caller_is_answered_as_the_register_says(addresses: list[Address], walk: Walk) -> None:
    found = {}
    for address in addresses:
        for caller in Caller:
            answer, written = walk.asked(address, caller)
            wrong = faults(walk, address, caller, answer)
            if in_short(answer) != address.answers[caller]:
                wrong.append(f"{in_short(answer)}, where {address.answers[caller]} is registered")
            if wrong:
                found[f"{address.name} as {caller.value}"] = wrong
            if written and in_short(answer) in ("401", "403", "404", "405", "302 sign-in"):
                found[f"{address.name} as {caller.value} written"] = written

    all_well(found)
