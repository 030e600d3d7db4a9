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


def run(port: int, seconds: float, clients: int, requests: list[bytes], status: int) -> dict[str, object]:
    """Load one address for so long."""
    order, times, wrong, sample = count(), list[float](), 0, ""
    good = b"HTTP/1.1 %d" % status
    waiting = selectors.DefaultSelector()
    for _ in range(clients):
        made = socket.create_connection(("127.0.0.1", port))
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        waiting.register(made, selectors.EVENT_READ, Connection(made))
    started, processor = time.perf_counter(), time.process_time()
    until = started + seconds

    def send(client: Connection) -> None:
        client.received.clear()
        client.wanted = 0
        client.sent_at = time.perf_counter()
        client.socket.sendall(requests[next(order) % len(requests)])

    for key in waiting.get_map().values():
        send(key.data)
    running = clients
    while running:
        for key, _ in waiting.select(5):
            client: Connection = key.data
            received = client.socket.recv(262144)
            if not received:
                raise ConnectionError("the server closed a connection")
            client.received += received
            client.wanted = client.wanted or answer_length(client.received)
            if not client.wanted or len(client.received) < client.wanted:
                continue
            now = time.perf_counter()
            times.append(now - client.sent_at)
            if not client.received.startswith(good):
                wrong, sample = wrong + 1, bytes(client.received[-600:]).decode(errors="replace")
            if now < until:
                send(client)
            else:
                running -= 1
                waiting.unregister(client.socket)
                client.socket.close()
    elapsed = time.perf_counter() - started
    times.sort()
    return {
        "rate": len(times) / elapsed,
        "count": len(times),
        "wrong": wrong,
        "p50_ms": times[len(times) // 2] * 1000,
        "p99_ms": times[len(times) * 99 // 100] * 1000,
        "busy": (time.process_time() - processor) / elapsed,
        "sample": sample,
    }


if __name__ == "__main__":
    job = json.load(sys.stdin)
    job["requests"] = [text.encode() for text in job["requests"]]
    json.dump(run(**job), sys.stdout)
