"""A witness cosigns what only grew, once it is on its disk, and answers everything else as C2SP's tlog-witness says."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from consent_bridge import notes
from consent_bridge.errors import Refused
from consent_bridge.witness import Witness, server_of
from tests.bridge.logs import Log
from tests.fakes.serving import serving
from tests.patience import MOST_SECONDS

AT = 1_790_000_000
Server = tuple[Witness, str, int]


@pytest.fixture
def log() -> Log:
    made = Log()
    made.grow(10)
    return made


def witness_of(log: Log, folder: Path) -> Witness:
    key = Ed25519PrivateKey.from_private_bytes(b"w" * 32)
    return Witness(name="witness.example/w", key=key, logs=[log.key], path=folder / "seen", clock=lambda: AT)


@pytest.fixture
def witness(log: Log, tmp_path: Path) -> Witness:
    return witness_of(log, tmp_path)


def test_a_log_that_grows_is_cosigned(log: Log, witness: Witness) -> None:
    for old, new in ((0, 3), (3, 3), (3, 8), (8, 10)):
        answer = witness.add_checkpoint(log.request(old, new))
        read = notes.read_checkpoint(log.note(new) + answer.body, [log.key], [witness.key])

        assert (answer.status, read.size) == (200, new)
        assert read.cosignatures == (notes.Cosignature("witness.example/w", AT),)


def test_another_old_size_is_told_the_one_that_was_cosigned(log: Log, witness: Witness) -> None:
    assert witness.add_checkpoint(log.request(2)).status == 409
    witness.add_checkpoint(log.request(0, 7))

    answer = witness.add_checkpoint(log.request(2))
    assert (answer.status, answer.body, answer.media_type) == (409, "7\n", "text/x.tlog.size")
    assert witness.add_checkpoint(log.request(0, 5)).body == "7\n"


def test_a_fork_is_never_cosigned(log: Log, witness: Witness, tmp_path: Path) -> None:
    witness.add_checkpoint(log.request(0, 7))
    fork = Log()
    fork.private, fork.key = log.private, log.key
    fork.grow(10, salt="other")

    assert [witness.add_checkpoint(fork.request(7, size)).status for size in (7, 10)] == [422, 422]
    again = witness_of(log, tmp_path)  # started anew, it remembers
    assert again.add_checkpoint(fork.request(7)).status == 422
    assert again.add_checkpoint(log.request(7)).status == 200


def test_requests_at_once_cannot_take_it_back(log: Log, witness: Witness) -> None:
    log.grow(200)
    witness.add_checkpoint(log.request(0, 10))
    bodies = [log.request(10, size) for size in range(11, 111)]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(witness.add_checkpoint, bodies))

    assert sorted(answer.status for answer in answers) == [200] + [409] * 99
    (cosigned,) = [answer for answer in answers if answer.status == 200]
    assert {answer.body for answer in answers if answer.status == 409} == {f"{11 + answers.index(cosigned)}\n"}


def test_what_does_not_follow_is_refused(log: Log, witness: Witness) -> None:
    stranger, empty = Log("other.example/log"), Log()
    stranger.grow(3)
    impostor = Log()
    impostor.grow(3)
    empty.private, empty.key = log.private, log.key
    proof = notes.encode(bytes(32))
    bodies = {
        404: stranger.request(0),
        403: impostor.request(0),
        400: b"old 11\n\n" + log.note().encode(),
        422: b"old 0\n" + proof.encode() + b"\n\n" + log.note().encode(),
    }
    assert {status: witness.add_checkpoint(body).status for status, body in bodies.items()} == {
        status: status for status in bodies
    }
    assert witness.add_checkpoint(b"old 0\n\n" + log.note(0, root=bytes(32)).encode()).status == 422
    assert witness.add_checkpoint(empty.request(0)).status == 200


@pytest.mark.parametrize(
    "body",
    [
        b"", b"old 0", b"old 0\n\n", b"old 00\n\nNOTE", b"old -1\n\nNOTE", b"size 0\n\nNOTE", b"old 0\nx\n\nNOTE",
        b"old 0\n" + b"AAAA\n" * 1 + b"\nNOTE", b"old 0\r\n\r\nNOTE", b"old 0\n\n\xff", b"old 0\n" * 65 + b"\nNOTE",
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused(log: Log, witness: Witness, body: bytes) -> None:
    assert witness.add_checkpoint(body.replace(b"NOTE", log.note().encode())).status == 400


def test_a_signature_of_the_log_that_does_not_hold_is_forbidden(log: Log, witness: Witness) -> None:
    forged = log.note(3).replace("\n3\n", "\n4\n")

    assert witness.add_checkpoint(b"old 0\n\n" + forged.encode()).status == 403
    with pytest.raises(Refused, match="does not hold"):
        notes.read_checkpoint(forged, [log.key])


# --- as a server ------------------------------------------------------------------------------------------------------


@pytest.fixture
def served(witness: Witness) -> Iterator[http.client.HTTPConnection]:
    server = server_of(witness, "127.0.0.1", 0)
    with serving(server):
        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=5)
        yield connection
        connection.close()


def call(served: http.client.HTTPConnection, method: str, path: str, body: bytes | None = None) -> tuple[int, str, str]:
    served.request(method, path, body)
    answer = served.getresponse()
    return answer.status, answer.headers.get("Content-Type", ""), answer.read().decode()


def test_the_server_keeps_its_connection_and_shows_what_it_cosigned(
    log: Log, witness: Witness, served: http.client.HTTPConnection
) -> None:
    shown = f"/{sha256(b'log.example/log').hexdigest()}/checkpoint"
    assert call(served, "GET", shown)[0] == 404
    status, media_type, line = call(served, "POST", "/add-checkpoint", log.request(0, 4))
    assert (status, media_type) == (200, "text/plain; charset=utf-8")
    assert call(served, "POST", "/add-checkpoint", log.request(0, 4)) == (409, "text/x.tlog.size", "4\n")

    assert call(served, "GET", shown) == (200, "text/plain; charset=utf-8", log.note(4) + line)


def test_the_server_refuses_what_it_does_not_serve(log: Log, served: http.client.HTTPConnection) -> None:
    for method, path, status in (
        ("GET", "/", 404), ("GET", "/add-checkpoint", 404), ("GET", f"/{'a' * 64}/checkpoint", 404),
        ("POST", "/", 404), ("PUT", "/add-checkpoint", 501),
    ):  # fmt: skip
        assert call(served, method, path)[0] == status, (method, path)
        served.close()
    assert call(served, "POST", "/add-checkpoint", b"x" * (64 * 1024 + 1))[0] == 413


@pytest.mark.own_process("it is a server that others ask")
def test_the_command_makes_its_key_once_and_serves(log: Log, tmp_path: Path) -> None:
    command = [
        sys.executable, "-m", "consent_bridge", "witness", "--name", "witness.example/w", "--log", str(log.key),
        "--state", str(tmp_path / "state"),
    ]  # fmt: skip
    environment = {"PATH": os.environ["PATH"]}
    shown = [
        json.loads(subprocess.run([*command, "--show-key"], capture_output=True, check=True, env=environment).stdout)
        for _ in range(2)
    ]
    assert shown[0] == shown[1]
    key = notes.VerifierKey.parse(shown[0]["verifier_key"])

    running = subprocess.Popen(
        [*command, "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert running.stderr is not None
        said = running.stderr.readline()
        connection = http.client.HTTPConnection("127.0.0.1", int(said.rpartition(":")[2]), timeout=5)
        status, _, line = call(connection, "POST", "/add-checkpoint", log.request(0))
        connection.close()
    finally:
        running.send_signal(signal.SIGTERM)
        assert running.wait(MOST_SECONDS) == 0
        running.stderr.close() if running.stderr else None
    assert status == 200
    assert notes.read_checkpoint(log.note() + line, [log.key], [key]).cosignatures[0].witness == key.name
    assert (tmp_path / "state" / "key.json").stat().st_mode & 0o777 == 0o600
