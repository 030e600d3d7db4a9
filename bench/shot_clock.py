"""One beginning for the clocks of all processes of `./run shots`, SQLite's in each of them; sets in one order."""

import os
import sqlite3.dbapi2
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import time_machine

BEGINS = datetime(2026, 9, 14, 9, tzinfo=UTC)
_connect = sqlite3.dbapi2.connect


def begin(folder: Path) -> None:
    """Here, and by `folder` in every process that is started from now on: Python reads `sitecustomize` first."""
    late = (datetime.now(UTC) - BEGINS).total_seconds()
    (folder / "sitecustomize.py").write_text(f"from bench import shot_clock\nshot_clock.be_late({late})\n")
    os.environ["PYTHONHASHSEED"] = "0"
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), str(Path(__file__).parents[1])])
    be_late(late)


def be_late(seconds: float) -> None:
    """So many behind the machine's clock."""
    time_machine.travel(datetime.now(UTC) - timedelta(seconds=seconds)).start()
    datetime.now(UTC)  # it stands still until it is asked for the first time
    sqlite3.dbapi2.connect = _connected


def _connected(*arguments: Any, **options: Any) -> sqlite3.Connection:
    made = _connect(*arguments, **options)
    made.create_function("strftime", 2, lambda form, now: f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3])
    return made
