"""A program of the neighbourhood on a free port, as its own command serves it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from examples.neighbourhood.aggregator import Aggregator
from examples.neighbourhood.serving import Program, Server


@contextmanager
def served(program: Program) -> Iterator[str]:
    """Its address, until the block ends."""
    server = Server(0, program)
    if isinstance(program, Aggregator):
        program.address = server.address
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.address
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
