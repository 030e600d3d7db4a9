"""The conformance suite as a stranger runs it: a command that plays its cases against a program."""

import json
import random
import subprocess
import sys

import pytest

from conformance.cases import VECTORS
from consent_bridge import derived
from tests.system.bridge_js.node import ROOT, node

PYTHON = (sys.executable, "-m", "conformance.python_client")
ANY_SIGNATURE = """
from consent_bridge import proofs
from conformance import python_client

proofs._check_signature = lambda *given: None
python_client.main()
"""


def conform(*arguments: str) -> tuple[int, list[str]]:
    """The exit code of the suite and its lines."""
    done = subprocess.run(
        [sys.executable, "-m", "conformance", *arguments],
        cwd=ROOT / "bridge", capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize("client", ["Python", "Node"])
def test_both_clients_pass_every_case(request, client):
    if client == "Node":
        request.getfixturevalue("package")
    code, lines = conform(*(PYTHON if client == "Python" else (node(), "conformance/node_client.mjs")))

    assert [line for line in lines if not line.startswith("ok ")] == [
        f"{len(lines) - 1} passed, 0 failed, 0 not supported"
    ]
    assert (code, len(lines) > 500) == (0, True)


def test_client_that_takes_any_signature_fails():
    code, lines = conform("--only", "receipts: ", sys.executable, "-c", ANY_SIGNATURE)

    failed = [line.split(": ")[1] for line in lines if line.startswith("FAIL")]
    assert (code, "other claims" in failed, "a receipt gives its claims" in failed) == (1, True, False)
    assert lines[-1].endswith(f" passed, {len(failed)} failed, 0 not supported")


@pytest.mark.parametrize(
    ("client", "last"),
    [
        ("print('{\"unsupported\": true}')", "the client replied 1 times to 2 cases"),
        ("for _ in input, input: print('{\"unsupported\": true}')", "0 passed, 0 failed, 2 not supported"),
        ("raise SystemExit(3)", "the client ended with exit code 3"),
    ],
)
def test_client_that_does_not_reply_fails(client, last):
    code, lines = conform("--only", "public half", sys.executable, "-c", client)

    assert (code, lines[-1]) == (1, last)


@pytest.mark.parametrize(
    "arguments",
    [
        ("no-such-program",),
        ("--seconds", "1", sys.executable, "-c", "import signal; signal.pause()"),
        ("--only", "no such case", sys.executable, "-c", ""),
        (),
    ],
)
def test_where_nothing_could_be_played_the_exit_code_is_another(arguments):
    assert conform(*arguments) == (2, [])


def test_a_fuzz_of_rules_and_values_finds_no_difference(package):
    """Rules of the vectors and such as are none, values that fit and that do not: the same answer, and no exception."""
    chance = random.Random("answers")
    rules = [*(vector["rule"] for vector in json.loads((VECTORS / "derived.json").read_text())), {}, {"kind": "part"}]
    inputs = [
        {"rule": chance.choice(rules), "value": made_up(chance), "at": "2026-03-01T00:00:00Z"} for _ in range(3000)
    ]
    lines = "".join(json.dumps({"operation": "derive", "input": one}) + "\n" for one in inputs)

    command = [node(), "conformance/node_client.mjs"]
    output = subprocess.run(
        command, input=lines, capture_output=True, text=True, cwd=ROOT / "bridge", check=True
    ).stdout

    answers = [json.loads(line)["answer"] for line in output.splitlines()]
    expected = [derived.answer(one["rule"], one["value"], one["at"]) for one in inputs]
    different = [
        (one, answer, other)
        for one, answer, other in zip(inputs, answers, expected, strict=True)
        if answer != other or isinstance(answer, bool) is not isinstance(other, bool)
    ]
    assert different == []
    assert len({json.dumps(answer) for answer in answers}) > 12


def made_up(chance, deep=2):
    """Any JSON, most of it near to what a rule reads: days, numbers as texts, groups of a street and a city."""
    year = chance.choice(["2008", "1990", "0000", "1876", "2030"])
    day = f"{year}-{chance.randint(0, 13):02}-{chance.randint(0, 32):02}"
    number = chance.choice([0, -1, 17, 18, 65, 0.5, -0.5, 17.999, 1e15, 2**53 - 1, 2**53, 1e300])
    plain = [None, True, False, "", day, number, str(number), "vegan", "53113", "\U0001f600é", "18", "-0", "1e3", " 18"]
    if deep and chance.random() < 0.4:
        names = chance.sample(["city", "street", "country", "__proto__", "constructor", "x"], chance.randint(0, 3))
        inner = [made_up(chance, deep - 1) for _ in range(3)]
        return chance.choice([dict(zip(names, inner, strict=False)), inner[: chance.randint(0, 3)]])
    return chance.choice(plain)
