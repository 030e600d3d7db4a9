"""The client for Node, tested by Node: by itself, against a scripted service, and the real application."""

import re

import pytest

from consent.notices.long_polling import hub
from tests.patience import eventually
from tests.system.bridge_js.node import ROOT, run

HERE = ROOT / "tests" / "system" / "bridge_js"


def passed(output):
    """How many tests Node's runner passed; it failed and skipped none."""
    counts = dict(re.findall(r"^# (pass|fail|skipped|todo) (\d+)$", output, re.MULTILINE))
    assert (counts["fail"], counts["skipped"], counts["todo"]) == ("0", "0", "0")
    return int(counts["pass"])


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("exports", 8),
        ("answers", 93),
        ("proofs", 9),
        ("approvals", 6),
        ("logs", 19),
        ("formats", 6),
        ("records", 7),
        ("derived", 9),
    ],
)
def test_module(package, name, least):
    assert passed(run("--test", "--test-reporter=tap", HERE / f"{name}.test.mjs")) >= least


def test_whole_way_against_the_real_application(package, trip):
    assert passed(run("--test", "--test-reporter=tap", HERE / "live.test.mjs", **trip)) == 6
    eventually(hub.is_silent, "the end of the listener")
