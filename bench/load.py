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
from itertools import cycle


class Client:
    """A kept-alive connection with at most one request under way."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, request: bytes) -> None:
        self.received, self.wanted = bytearray(), 0  # octets of the whole answer, once its head is there
        self.sent_at = time.perf_counter()
        self.socket.sendall(request)

    def receive(self) -> bool:
        """Whether the answer is there as a whole."""
        received = self.socket.recv(262144)
        if not received:
            raise ConnectionError("the server closed a connection")
        self.received += received
        self.wanted = self.wanted or answer_length(self.received)
        return 0 < self.wanted <= len(self.received)


def answer_length(received: bytearray) -> int:
    """The length of the answer that `received` begins, or 0 while its head is incomplete."""
    head = received.find(b"\r\n\r\n")
    if head < 0:
        return 0
    lower = bytes(received[:head]).lower()
    start = lower.find(b"content-length:")
    length = int(lower[start + 15 : (lower + b"\r").find(b"\r", start)]) if start >= 0 else 0
    return head + 4 + length


def run(port: int, seconds: float, clients: int, requests: list[str], status: int) -> dict[str, object]:
    """Load one address for so long; every client leaves with its first answer after that."""
    texts, good = cycle([text.encode() for text in requests]), b"HTTP/1.1 %d" % status
    times, wrong, sample = list[float](), 0, ""
    waiting = selectors.DefaultSelector()
    for client in [Client(port) for _ in range(clients)]:
        waiting.register(client.socket, selectors.EVENT_READ, client)
    started, processor = time.perf_counter(), time.process_time()
    for key in list(waiting.get_map().values()):
        key.data.send(next(texts))
    while waiting.get_map():
        for key, _ in waiting.select(5):
            client = key.data
            if not client.receive():
                continue
            now = time.perf_counter()
            times.append(now - client.sent_at)
            if not client.received.startswith(good):
                wrong, sample = wrong + 1, bytes(client.received[-600:]).decode(errors="replace")
            if now < started + seconds:
                client.send(next(texts))
            else:
                waiting.unregister(client.socket)
                client.socket.close()
    elapsed = time.perf_counter() - started
    times.sort()
    return {
        "rate": len(times) / elapsed, "count": len(times), "wrong": wrong, "sample": sample,
        "p50_ms": times[len(times) // 2] * 1000, "p99_ms": times[len(times) * 99 // 100] * 1000,
        "busy": (time.process_time() - processor) / elapsed,
    }  # fmt: skip


if __name__ == "__main__":
    json.dump(run(**json.load(sys.stdin)), sys.stdout)
