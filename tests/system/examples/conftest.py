"""The real application, an app's token, a person with a vault, and an example as a process of its own."""

import os
import queue
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from tests.system.bridge.conftest import _process_forgets, person
from tests.system.bridge.conftest import owner as owner_of_food
from tests.system.bridge.hosts import ROOT, bridge_environment

__all__ = ["_process_forgets", "owner_of_food", "person"]  # fixtures


@pytest.fixture
def owner(owner_of_food):
    """Who keeps what they buy, too."""
    owner_of_food.write("lifestyle", "shopping", {"fashion_style": "Formal", "grocery_store_type": "market"}, base=0)
    return owner_of_food


@pytest.fixture
def environment(tmp_path, service, api):
    return bridge_environment(tmp_path / "state", service, api.token)


class Running:
    """A process whose lines can be waited for."""

    def __init__(self, process):
        self.process, self._lines = process, queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def line(self):
        """The next line; a failure after a minute without one."""
        return self._lines.get(timeout=60)

    def ends(self):
        """Its exit code and the lines that were not waited for."""
        code = self.process.wait(60)
        self._reader.join()
        return code, list(self._lines.queue)


@contextmanager
def example(name, *arguments, environment=None):
    """Run one of the examples until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-W", "error", ROOT / "examples" / name, *arguments],
        env={**(environment or os.environ), "PYTHONPATH": f"{ROOT / 'bridge'}:{ROOT}", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    running = Running(process)
    try:
        yield running
    finally:
        process.kill()
        process.wait()
        running._reader.join()
        process.stdout.close()
