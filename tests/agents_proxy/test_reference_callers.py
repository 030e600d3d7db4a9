"""Whom the reference agents answer: programs, and no web page."""

from collections.abc import Iterator
from http.client import HTTPConnection

import pytest

from examples.neighbourhood.serving import Server
from examples.reference_agents.__main__ import Agents
from tests.fakes.serving import serving


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = Server(0, Agents())
    with serving(server):
        yield server.server_address[1]


def status(port: int, method: str, headers: dict[str, str]) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, "/core", b"{}" if method == "POST" else None, headers)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize(("method", "answer"), [("GET", 404), ("POST", 200)])
def test_a_program_of_this_machine_is_answered(port: int, method: str, answer: int) -> None:
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"):
        assert status(port, method, {"Host": host}) == answer


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example:80"},
        {"Host": "127.0.0.1@evil.example"},
        {"Host": ""},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
    ids=str,
)
def test_a_web_page_is_not(port: int, method: str, headers: dict[str, str]) -> None:
    assert status(port, method, headers) == 403
