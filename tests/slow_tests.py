"""Which tests took long without saying why they must.

A test that takes more than five seconds on a quiet machine is marked `slow(reason)`. What took longer and is not marked
is told at the end of a run; a busy machine makes any test slow, so it is told and fails nothing.
"""

from collections.abc import Sequence

import pytest

LIMIT = 5.0  # seconds of a test's own: what it shares with others is made in their fixtures
_SAYS_WHY = "slow_says_why"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let each report tell whether its test is marked, also across processes."""
    for item in items:
        item.user_properties.append((_SAYS_WHY, item.get_closest_marker("slow") is not None))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    lines = unexplained(reports)
    if lines:
        terminalreporter.write_sep("-", f"over {LIMIT:.0f} s without a mark slow(reason)")
        for line in lines:
            terminalreporter.write_line(line)


def unexplained(reports: Sequence[pytest.TestReport]) -> list[str]:
    """One line for each test that took too long and does not say why, the longest first."""
    took = sorted(
        ((report.duration, report.nodeid) for report in reports if report.when == "call" and not _says_why(report)),
        reverse=True,
    )
    return [f"{seconds:6.1f} s  {nodeid}" for seconds, nodeid in took if seconds > LIMIT]


def _says_why(report: pytest.TestReport) -> bool:
    return dict(report.user_properties).get(_SAYS_WHY) is True
