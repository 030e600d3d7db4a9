"""An upstream agent that costs next to nothing and answers after as many seconds as its path says.

`python -m bench.slow_agent` prints its port. `POST /5.0` answers after five seconds.
"""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from deploy.local.place import PYTHON, ROOT


@contextmanager
def slow_agent() -> Iterator[int]:
    """Its port."""
    process = subprocess.Popen([PYTHON, "-m", "bench.slow_agent"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(15)


class Agent(asyncio.Protocol):
    """One connection; answers one request after the other."""

    def __init__(self) -> None:
        self.received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        head = self.received.find(b"\r\n\r\n")
        if head < 0:
            return
        lower = bytes(self.received[:head]).lower()
        length = int(lower.split(b"content-length:")[1].split(b"\r")[0])
        if len(self.received) < head + 4 + length:
            return
        task = json.loads(self.received[head + 4 :])["id"]
        delay = float(lower.split(b" ", 2)[1].strip(b"/") or 0)
        self.received.clear()
        asyncio.get_running_loop().call_later(delay, self.answer, task)

    def answer(self, task: str) -> None:
        message = {"role": "agent", "parts": [{"type": "text", "text": json.dumps({"likes": ["tea"] * 100})}]}
        result = {"id": task, "status": {"state": "completed", "message": message}}
        body = json.dumps({"jsonrpc": "2.0", "id": task, "result": result}).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.transport.write(head.encode() + body)


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Agent, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
