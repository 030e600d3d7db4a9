"""An app that follows its events for as long as the service breaks, resuming where it was."""

import json
import threading
import time
from typing import Any

import requests

from bench.cast import AppPart

_SILENCE = 20  # seconds without even a comment after which the stream is taken for dead


class Follower(threading.Thread):
    """`events` are (sequence, status body) as they came, across every resumption."""

    def __init__(self, site: str, app: AppPart) -> None:
        super().__init__(daemon=True)
        self.address, self.app = f"{site}/api/v1/consent-events", app
        self.events: list[tuple[int, dict[str, Any]]] = []
        self.resumed = -1
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.is_set():
            self.resumed += 1
            try:
                self._follow()
            except (requests.RequestException, ValueError, AttributeError):
                time.sleep(0.2)

    def _follow(self) -> None:
        last = str(self.events[-1][0] if self.events else 0)
        headers = {"Authorization": f"Bearer {self.app.token}", "Last-Event-ID": last}
        with requests.get(self.address, headers=headers, stream=True, timeout=(3, _SILENCE)) as answer:
            if answer.status_code != 200:
                raise requests.ConnectionError
            number = 0
            for line in answer.iter_lines(chunk_size=1):
                if line.startswith(b"id: "):
                    number = int(line[4:])
                elif line.startswith(b"data: "):
                    self.events.append((number, json.loads(line[6:])))
                if self.over.is_set():
                    return
