"""An older system's file is imported, killed again and again, and then once more in one go; its memory, early and late.

    ./run bench legacy [--rows 100000] [--kills 5]

Works on a database of its own: beside the one of DATABASE_URL, or on SQLite. The command runs as an operator runs it.
"ratio" is the most memory that the process in one go had within the last tenth of the file to what it had within the
first tenth after its start; memory that grew with the file would show there.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from bench.staging import own_database, parse_options, prepare
from deploy.local.place import PYTHON, ROOT

PEOPLE = 50
FLAT = 1.1  # the ratio beyond which memory grows with the file
_RSS = re.compile(r"VmRSS:\s+(\d+) kB")


def make_people() -> list[str]:
    """Their addresses."""
    from accounts.models import User

    emails = [f"old{number}@example.org" for number in range(PEOPLE)]
    User.objects.bulk_create(User(email=email, password="!") for email in emails)  # nobody signs in
    return emails


def write(path: Path, emails: list[str], rows: int) -> None:
    """A line for each person's domain, domain by domain; what is sealed is the same in all of them."""
    from joserfc import jwe
    from joserfc.jwk import OctKey

    alg = "PBES2-HS512+A256KW"
    header = {"alg": alg, "enc": "A256GCM", "p2c": 1000}
    text = json.dumps({"note": "Thai food, green tea and long walks. " * 25})
    sealed = jwe.encrypt_compact(header, text, OctKey.import_key("an old passphrase"), algorithms=[alg, "A256GCM"])
    with path.open("w") as file:
        for number in range(rows):
            line = {"user_email": emails[number % PEOPLE], "domain": f"d{number // PEOPLE}", "jwe": sealed}
            file.write(json.dumps(line | {"updated_at": "2024-05-17T09:30:00Z"}) + "\n")


def start(path: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [PYTHON, "manage.py", "import_legacy", str(path)], cwd=ROOT, stdout=subprocess.DEVNULL
    )  # fmt: skip


def line_reached() -> int:
    """How many lines are in for good."""
    from pkm.legacy.models import MigrationState

    state = MigrationState.objects.filter(user=None).first()
    return state.checkpoint["line"] if state else 0


def import_killed(path: Path, rows: int, kills: int) -> list[int]:
    """Import it, killed so often at lines spread over the file; at which line each time."""
    reached = [0]
    for kill in range(1, kills + 1):
        process = start(path)
        while line_reached() <= max(reached[-1], rows * kill // (kills + 1)):
            if process.poll() is not None:
                sys.exit("The import ended before it was killed; take more rows.")
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        reached.append(line_reached())
    if start(path).wait():
        sys.exit("The import failed; the messages above say why.")
    return reached[1:]


def import_watched(path: Path, rows: int) -> tuple[float, list[tuple[int, int]]]:
    """Import it in one go; how many seconds that took, and (line, kB of memory) again and again."""
    begun, process, seen = time.monotonic(), start(path), []
    while process.poll() is None:
        line = line_reached()
        if line and (found := _RSS.search(_status(process.pid))):
            seen.append((line, int(found[1])))
        time.sleep(0.05)
    if process.returncode or line_reached() != rows:
        sys.exit("The import failed; the messages above say why.")
    return time.monotonic() - begun, seen


def _status(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return ""  # it ended meanwhile


def counted(emails: list[str], rows: int) -> dict[str, Any]:
    """What there is after an import: rows, how many of them are one person's domain, the file's own counts."""
    from pkm.legacy.models import LegacyBlob, MigrationState

    found = LegacyBlob.objects.values_list("user__email", "domain")
    wanted = {(emails[number % PEOPLE], f"d{number // PEOPLE}") for number in range(rows)}
    state = MigrationState.objects.get(user=None)
    complete = set(found) == wanted and len(found) == rows
    return {"rows": len(found), "complete, once each": complete, "status": state.status, **state.counts}


def forget() -> None:
    """As before the import."""
    from pkm.legacy.models import LegacyBlob, MigrationState

    LegacyBlob.objects.all().remove_moved()
    MigrationState.objects.all().delete()


def measure(path: Path, emails: list[str], rows: int, kills: int) -> bool:
    reached = import_killed(path, rows, kills)
    killed = counted(emails, rows)
    print(f"{rows} rows, killed {len(reached)} times, after the lines {', '.join(map(str, reached))}")
    print("  " + ", ".join(f"{name}: {value}" for name, value in killed.items()))
    forget()
    took, seen = import_watched(path, rows)
    early = max(memory for line, memory in seen if line <= rows // 10)
    late = max(memory for line, memory in seen if line >= rows - rows // 10)
    print(f"in one go: {took:.1f} s, {rows / took:.0f} rows/s")
    print(
        f"memory: {early / 1024:.1f} MB in the first tenth, {late / 1024:.1f} MB in the last, ratio {late / early:.2f}"
    )
    wanted = {"imported": rows, "known": 0, "refused": 0, "status": "completed", "complete, once each": True}
    return wanted.items() <= killed.items() and len(reached) == kills and late / early <= FLAT


def main() -> int:
    given = parse_options("legacy", rows=100_000, kills=5)
    home = Path(tempfile.mkdtemp(prefix="consent-legacy-"))
    served = os.environ.get("DATABASE_URL", "").startswith("postgres")
    try:
        with own_database() if served else nullcontext("") as url:
            os.environ |= {
                "DATABASE_URL": url, "CONSENT_VAR": str(home), "REDIS_URL": "",
                "DJANGO_SETTINGS_MODULE": "config.settings",
            }  # fmt: skip
            prepare(home)
            emails, path = make_people(), home / "old.jsonl"
            write(path, emails, given.rows)
            as_wanted = measure(path, emails, given.rows, given.kills)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    print("as wanted" if as_wanted else f"not as wanted: every row once, and memory within {FLAT} of its beginning")
    return 0 if as_wanted else 1
