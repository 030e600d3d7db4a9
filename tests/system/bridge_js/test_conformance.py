"""The conformance suite as a stranger runs it: a command that plays its cases against a program."""

import subprocess
import sys

import pytest

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
