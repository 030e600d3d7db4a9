"""A PostgreSQL of one's own, to be stopped the hard way as often as one likes."""

import glob
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from deploy.local.serving import free_port

ACCOUNT = "postgres"  # PostgreSQL does not run as root


class Cluster:
    """A fresh cluster in a temporary folder, listening on this machine alone; `url` is its database."""

    def __init__(self) -> None:
        self.port = free_port()
        self.home = Path(tempfile.mkdtemp(prefix="consent-chaos-db-"))
        self.home.chmod(0o700)
        if os.geteuid() == 0:
            shutil.chown(self.home, ACCOUNT)
        self.url = f"postgres://chaos@127.0.0.1:{self.port}/postgres"
        self._call("initdb", "--auth", "trust", "--username", "chaos", "--encoding", "UTF8", "--locale", "C.UTF-8")
        self.start()

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.home}"
        self._call("pg_ctl", "--wait", "--log", str(self.home / "log"), "--options", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        """`immediate` is a crash: nothing is written out, and the next start recovers from the log."""
        self._call("pg_ctl", "--wait", "--mode", mode, "stop")

    def remove(self) -> None:
        if (self.home / "data" / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    def _call(self, program: str, *arguments: str) -> None:
        command = [_find(program), "--pgdata", str(self.home / "data"), *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", ACCOUNT, "--", *command]
        # the server outlives the call and must not hold its pipes
        with (self.home / "said").open("ab") as said:
            done = subprocess.run(command, cwd="/", stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False)
        if done.returncode:
            raise RuntimeError(f"{program} failed:\n{(self.home / 'said').read_text()}")


def _find(program: str) -> str:
    """Debian keeps these off the path, one folder for each version."""
    found = shutil.which(program) or next(iter(sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{program}"))[::-1]), None)
    if found is None:
        raise RuntimeError(f"{program} is not installed; it comes with the PostgreSQL server")
    return found
