"""The two tiers: what runs inside the test process, and `tests/system`, which starts browsers, servers and processes.

A test outside `tests/system` that starts a process is marked `own_process(why)`; any other one fails as it does so. How
many processes the tests of a run started stands at its end.
"""

import _posixsubprocess
import os
import subprocess
from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest

SYSTEM = "tests/system/"
# No audit hook tells as much for less: it is called for each `id()`, some hundred times a page.
_STARTS: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (subprocess, ("_fork_exec",)),
    (_posixsubprocess, ("fork_exec",)),
    (os, ("fork", "forkpty", "posix_spawn", "posix_spawnp", "execv", "execve")),
)


class Processes:
    """Counts the processes that tests start, in this process of the run and in those beside it."""

    def __init__(self) -> None:
        self.started = 0
        self._item: pytest.Item | None = None
        for place, names in _STARTS:
            for name in names:
                setattr(place, name, self._counted(getattr(place, name)))

    def _counted(self, start: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(start)
        def counted(*arguments: Any, **named: Any) -> Any:
            self._one_more()
            return start(*arguments, **named)

        return counted

    def _one_more(self) -> None:
        if self._item is None:
            return
        self.started += 1
        if not self._item.nodeid.startswith(SYSTEM) and self._item.get_closest_marker("own_process") is None:
            raise RuntimeError("A test that starts a process belongs in tests/system, or is marked own_process(why).")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self._item = item
        try:
            return (yield)
        finally:
            self._item = None

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["processes"] = self.started

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.started += getattr(node, "workeroutput", {}).get("processes", 0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.write_line(f"Processes that tests started: {self.started}")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Processes())
