"""A short storm: the real server, worker and database, killed a few times while people decide.

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
@pytest.mark.long("everything is killed a few times while people decide", only=True)
def test_nothing_is_lost_while_everything_is_killed() -> None:
    storm = ["--decisions", "60", "--kills", "2", "--stops", "1", "--people", "3"]
    done = subprocess.run(
        [sys.executable, "-m", "bench", "chaos", *storm],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "bridge")},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "killed: server 2 times, worker 2; PostgreSQL stopped: 1" in done.stdout
