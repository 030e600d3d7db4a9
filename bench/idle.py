"""What a small deployment costs while nobody calls it: memory, and processor time with its PostgreSQL's.

    ./run bench idle [--seconds 120]

Server and worker run as `PROFILE=small ./run` starts them, on a PostgreSQL of their own that holds two people and two
apps. Fails where they take more than is wanted.
"""

import time
from pathlib import Path

from bench.faults.service import deployed, report, running
from bench.measuring import spent_by_tree, tree
from bench.staging import parse_options

_MEMORY, _PROCESSOR = 300, 1.0  # MB and % of one: what is wanted at most
_SETTLED = 60.0  # seconds; in the first minute every queue's task runs once


def main() -> int:
    options = parse_options("idle", seconds=120)
    with deployed("idle", people=2, CELERY_SKIP_CHECKS="1") as deployment, running(deployment.service):
        time.sleep(_SETTLED)
        service = [child.process.pid for child in deployment.service.children.values()]
        postgres = int((deployment.cluster.data / "postmaster.pid").read_text().split()[0])
        before, began = [spent_by_tree(pid) for pid in (*service, postgres)], time.monotonic()
        time.sleep(options.seconds)
        spent = [spent_by_tree(pid) - then for pid, then in zip((*service, postgres), before, strict=True)]
        server, worker, database = (100 * seconds / (time.monotonic() - began) for seconds in spent)
        memory = sum(_proportional(pid) for parent in service for pid in tree(parent))
    processor = server + worker + database
    print(f"server {server:.2f} %, worker {worker:.2f} %, PostgreSQL {database:.2f} %")
    found = f"idle: {memory:.0f} MB, {processor:.2f} % of a processor (wanted {_MEMORY}, {_PROCESSOR})"
    is_more = memory > _MEMORY or processor > _PROCESSOR
    return report([found] if is_more else [], deployment.home, found)


def _proportional(pid: int) -> float:
    """MB of this process, what it shares counted by its share (PSS)."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
