"""A load generator that costs next to nothing: plain sockets in one loop, requests made beforehand.

    python -m bench.load < job.json

A job is {"port", "seconds", "clients", "requests": [text, …], "status": 200}; every client sends the next request as
soon as it has its answer. Prints {"rate", "count", "wrong", "p50_ms", "p99_ms", "busy", "sample"}; `busy` is the share
of the time in which this process itself used the processor.
"""

import json
import selectors
import socket
import sys
import time
from dataclasses import dataclass, field
from itertools import count


@dataclass
class Connection:
    """One client: a kept-alive connection with at most one request under way."""

    socket: socket.socket
    sent_at: float = 0.0
    received: bytearray = field(default_factory=bytearray)
    wanted: int = 0  # bytes of the whole answer, once its head is there


def answer_length(received: bytearray) -> int:
    """The length of the answer that `received` begins, or 0 while its head is incomplete."""
    head = received.find(b"\r\n\r\n")
    if head < 0:
        return 0
    lower = bytes(received[:head]).lower()
    start = lower.find(b"content-length:")
    length = int(lower[start + 15 : (lower + b"\r").find(b"\r", start)]) if start >= 0 else 0
    return head + 4 + length


class Load:
    """Clients who ask one address until a moment, and what became of it."""

    def __init__(self, requests: list[bytes], status: int) -> None:
        self.times: list[float] = []
        self.wrong, self.sample = 0, ""
        self._requests, self._order, self._good = requests, count(), b"HTTP/1.1 %d" % status
        self._waiting = selectors.DefaultSelector()

    def connect(self, port: int, clients: int) -> None:
        for _ in range(clients):
            made = socket.create_connection(("127.0.0.1", port))
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._waiting.register(made, selectors.EVENT_READ, Connection(made))

    def ask_until(self, until: float) -> None:
        """Every client asks again as soon as it has its answer, and leaves with the first one after `until`."""
        for key in list(self._waiting.get_map().values()):
            self._send(key.data)
        while self._waiting.get_map():
            for key, _ in self._waiting.select(5):
                client: Connection = key.data
                if not self._receive(client):
                    continue
                if time.perf_counter() < until:
                    self._send(client)
                else:
                    self._waiting.unregister(client.socket)
                    client.socket.close()

    def _send(self, client: Connection) -> None:
        client.received.clear()
        client.wanted = 0
        client.sent_at = time.perf_counter()
        client.socket.sendall(self._requests[next(self._order) % len(self._requests)])

    def _receive(self, client: Connection) -> bool:
        """Whether the answer is there as a whole; then it is counted."""
        received = client.socket.recv(262144)
        if not received:
            raise ConnectionError("the server closed a connection")
        client.received += received
        client.wanted = client.wanted or answer_length(client.received)
        if not client.wanted or len(client.received) < client.wanted:
            return False
        self.times.append(time.perf_counter() - client.sent_at)
        if not client.received.startswith(self._good):
            self.wrong += 1
            self.sample = bytes(client.received[-600:]).decode(errors="replace")
        return True


def run(port: int, seconds: float, clients: int, requests: list[bytes], status: int) -> dict[str, object]:
    """Load one address for so long."""
    load = Load(requests, status)
    load.connect(port, clients)
    started, processor = time.perf_counter(), time.process_time()
    load.ask_until(started + seconds)
    elapsed = time.perf_counter() - started
    times = sorted(load.times)
    return {
        "rate": len(times) / elapsed,
        "count": len(times),
        "wrong": load.wrong,
        "p50_ms": times[len(times) // 2] * 1000,
        "p99_ms": times[len(times) * 99 // 100] * 1000,
        "busy": (time.process_time() - processor) / elapsed,
        "sample": load.sample,
    }


if __name__ == "__main__":
    job = json.load(sys.stdin)
    job["requests"] = [text.encode() for text in job["requests"]]
    json.dump(run(**job), sys.stdout)
