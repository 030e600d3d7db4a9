"""A way to a server that can be closed or go silent, so that it is away for us and for nobody else."""

import socket
import threading
from contextlib import suppress

_CHUNK = 65536


class Gate:
    """Listens on a port of its own and passes bytes on to `target`, while it is open."""

    def __init__(self, target: tuple[str, int]) -> None:
        self.target = target
        self._listener: socket.socket | None = None
        self._pairs: list[tuple[socket.socket, socket.socket | None]] = []
        self._passing = threading.Event()
        self._place = socket.socket()  # never listens, and keeps the port from others while nobody does
        self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._place.bind(("127.0.0.1", 0))
        self.port = int(self._place.getsockname()[1])
        self.open()

    def open(self) -> None:
        """Pass everything on, new connections and those that were held."""
        self._passing.set()
        if self._listener is None:
            self._listener = socket.create_server(("127.0.0.1", self.port), backlog=128, reuse_port=True)
            threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def refuse(self) -> None:
        """As a host whose server ended: connections break, and no new one is taken."""
        if self._listener is not None:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
        self._break()

    def be_silent(self) -> None:
        """As a server that hangs: connections are taken, and nothing ever comes back."""
        self.open()
        self._passing.clear()

    def close(self) -> None:
        self.refuse()
        self._passing.set()
        self._place.close()

    def _break(self) -> None:
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                if end is not None:
                    with suppress(OSError):
                        end.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        self._pairs.append((near, None))
        self._passing.wait()
        with suppress(OSError), near, socket.create_connection(self.target) as far:
            self._pairs.append((near, far))
            back = threading.Thread(target=self._pass_on, args=(far, near), daemon=True)
            back.start()
            self._pass_on(near, far)
            back.join()

    def _pass_on(self, source: socket.socket, to: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                self._passing.wait()
                to.sendall(data)
        for end in (source, to):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
