"""A program of the neighbourhood on a free port, as its own command serves it."""

from collections.abc import Iterator
from contextlib import contextmanager

from examples.neighbourhood.aggregator import Aggregator
from examples.neighbourhood.serving import Program, Server
from tests.fakes.serving import serving


@contextmanager
def served(program: Program) -> Iterator[str]:
    """Its address, until the block ends."""
    server = Server(0, program)
    if isinstance(program, Aggregator):
        program.address = server.address
    with serving(server):
        yield server.address
