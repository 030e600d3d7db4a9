"""A short storm: the real server, worker and database, which break in every way a few times while people decide.

It takes some minutes on a busy machine and a PostgreSQL cluster of its own, so it is a part of `./run prove` alone. The
long one is `./run bench chaos`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.postgres
@pytest.mark.long("everything breaks a few times while people decide", only=True)
def test_nothing_is_lost_while_everything_breaks() -> None:
    storm = ["--decisions", "60", "--kills", "2", "--stops", "1", "--cuts", "2", "--full-disk", "1", "--clocks", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "bench", "chaos", *storm, "--people", "3"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "bridge")},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "killed: server 2 times, worker 2; PostgreSQL stopped: 1; links cut: 2; disk full: " in done.stdout
