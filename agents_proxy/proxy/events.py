"""Server-sent events out of the pieces in which a body arrives (HTML standard, 9.2), as far as A2A needs them."""

import re
from codecs import BOM_UTF8
from collections.abc import Callable

from agents_proxy.proxy.envelope import Reply

_END = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)")  # of a line, and a blank one
_LINE = re.compile(rb"\r\n|\n|\r")
_LONGEST_END = 4  # bytes

# given the data of one event: whether that was all, and the reply where it is an error
Take = Callable[[bytes], tuple[bool, Reply | None]]
Arrived = Callable[[int], object]  # told how many events there were so far, while more are to come


class Events:
    """Hands the data of each event on as soon as it is whole. `count` is how many there were."""

    def __init__(self, take: Take, arrived: Arrived | None = None) -> None:
        self._take, self._arrived = take, arrived
        self._rest = bytearray()
        self.count = 0
        self.refused: Reply | None = None

    def feed(self, piece: bytes) -> bool:
        """Take a piece of the body in; True once no more of it is needed."""
        looked_at = max(0, len(self._rest) - _LONGEST_END + 1)
        self._rest += piece
        while end := _END.search(self._rest, looked_at):
            event, looked_at = bytes(self._rest[: end.start()]), 0
            del self._rest[: end.end()]
            if self._handed_on(event):
                self._rest.clear()  # what comes after the last event counts for nothing
                return True
        return False

    def end(self) -> None:
        """The body is over: an event without the blank line after it counts, unless it was cut."""
        rest, self._rest = bytes(self._rest), bytearray()
        if rest.rstrip().endswith(b"}"):
            self._handed_on(rest)

    def _handed_on(self, event: bytes) -> bool:
        whole = _LINE.split(event.removeprefix(BOM_UTF8))
        lines = [line[5:].removeprefix(b" ") for line in whole if line.startswith(b"data:")]
        if not lines:
            return False
        self.count += 1
        is_last, self.refused = self._take(b"\n".join(lines))
        if self._arrived is not None and not is_last:
            self._arrived(self.count)
        return is_last
