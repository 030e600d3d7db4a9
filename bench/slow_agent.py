"""An upstream agent that costs next to nothing and answers after as many seconds as its path says.

`python -m bench.slow_agent` prints its port. `POST /5.0` answers after five seconds.
"""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

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


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One request of a connection after the other, until it closes."""
    with suppress(asyncio.IncompleteReadError, ConnectionError), closing(writer):
        while head := (await reader.readuntil(b"\r\n\r\n")).lower():
            task = json.loads(await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r")[0])))["id"]
            await asyncio.sleep(float(head.split(b" ", 2)[1].strip(b"/") or 0))
            message = {"role": "agent", "parts": [{"type": "text", "text": json.dumps({"likes": ["tea"] * 100})}]}
            result = {"id": task, "status": {"state": "completed", "message": message}}
            body = json.dumps({"jsonrpc": "2.0", "id": task, "result": result}).encode()
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
            writer.write(head + body)


async def main() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
