"""A PostgreSQL of one's own, to be stopped the hard way as often as one likes, backed up and restored."""

import glob
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

from deploy.local.serving import free_port

ACCOUNT = "postgres"  # PostgreSQL does not run as root
_RECOVERS_WITHIN = 300  # seconds
_ARCHIVED_WITHIN = 60  # seconds


class Cluster:
    """A cluster in a temporary folder, listening on this machine alone; `url` is its database.

    `disk` is the size in megabytes of a file system of its own, to be filled; `has_own_disk` says whether it got one.
    """

    def __init__(self, disk: int = 0, **settings: str) -> None:
        self._prepare()
        try:
            small = self._mount(disk) if disk else []
            self._call(
                "initdb", "--auth", "trust", "--username", "chaos", "--encoding", "UTF8", "--locale", "C.UTF-8", *small
            )  # fmt: skip
            self._write_settings(settings)
            self.start()
        except BaseException:
            self.remove()
            raise

    @classmethod
    def archiving(cls) -> "Cluster":
        """A fresh one that carries each segment of its write-ahead log to `archive`."""
        made = cls(archive_mode="on")  # without a command it keeps what is to be archived
        made.archive.mkdir()
        made._give_away(made.archive)
        copy = f"cp %p {made.archive}/%f.part && mv {made.archive}/%f.part {made.archive}/%f"
        made.query_row("ALTER SYSTEM SET archive_command = %s", copy)
        made.query_row("SELECT pg_reload_conf()")
        return made

    @classmethod
    def restored(cls, base: Path, archive: Path, until: str = "") -> "Cluster":
        """One that recovered from a base backup and the archive beside it, to its end or to a time of PostgreSQL's."""
        settings = {
            "archive_mode": "off", "restore_command": f"cp {archive}/%f %p", "recovery_target_action": "promote",
            **({"recovery_target_time": until} if until else {}),
        }  # fmt: skip
        made = cls._begun_from(base, settings, "recovery.signal")
        made._wait_until("recovery", "SELECT NOT pg_is_in_recovery()", _RECOVERS_WITHIN)
        return made

    @classmethod
    def standby(cls, of: "Cluster") -> "Cluster":
        """One that follows another from a base backup on, until it is promoted."""
        return cls._begun_from(of.back_up(), {"primary_conninfo": of.url}, "standby.signal")

    @classmethod
    def _begun_from(cls, base: Path, settings: Mapping[str, str], wanted: str) -> "Cluster":
        made = cls.__new__(cls)
        made._prepare()
        made._as_account("cp", "--archive", str(base), str(made.data))
        (made.data / "postgresql.auto.conf").write_text("")  # of the first one, with the place of its archive
        made._write_settings(settings)
        (made.data / wanted).touch()
        made._give_away(made.data / wanted)
        made.start()
        return made

    def promote(self) -> None:
        """From a standby to one that is written to."""
        self._call("pg_ctl", "--wait", "promote")

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.home}"
        self._call("pg_ctl", "--wait", "--log", str(self.home / "log"), "--options", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        """`immediate` is a crash: nothing is written out, and the next start recovers from the log."""
        self._call("pg_ctl", "--wait", "--mode", mode, "stop")

    def fill_disk(self) -> None:
        """Take all that its file system has left; again and again, since PostgreSQL gives some of its own back."""
        with self._filler.open("ab") as file, suppress(OSError):
            left = os.statvfs(self.data)
            os.posix_fallocate(file.fileno(), file.tell(), max(1, left.f_bavail * left.f_frsize))

    def free_disk(self) -> None:
        """Give it back, wait for PostgreSQL, and start it as an operator would where it ended."""
        self._filler.unlink()
        deadline = time.monotonic() + _RECOVERS_WITHIN
        while True:
            try:
                self.query_row("SELECT 1")
                return
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
            if not self._is_running():
                self.start()
            time.sleep(0.05)

    @property
    def panics(self) -> int:
        """How often PostgreSQL could not write down what it had to, and gave up."""
        return (self.home / "log").read_text(errors="replace").count("PANIC:")

    def back_up(self) -> Path:
        """A base backup as the handbook has it made, compared with its own manifest; the folder."""
        base = self.home / "base"
        self._as_account(_find("pg_basebackup"), f"--dbname={self.url}", f"--pgdata={base}", "--checkpoint=fast")
        self._as_account(_find("pg_verifybackup"), str(base))
        return base

    def archive_all(self) -> str:
        """Close the segment that is written to and wait until it is in the archive; its name."""
        (segment,) = self.query_row("SELECT pg_walfile_name(pg_switch_wal())")
        query = f"SELECT coalesce(last_archived_wal >= '{segment}', false) FROM pg_stat_archiver"
        self._wait_until("the archive", query, _ARCHIVED_WITHIN)
        return str(segment)

    def query_row(self, statement: str, *literals: str) -> tuple[Any, ...]:
        """The first row that is answered, by a session of its own."""
        with psycopg.ClientCursor(psycopg.connect(self.url, autocommit=True)) as cursor, cursor.connection:
            cursor.execute(statement, literals)  # type: ignore[arg-type]  # our own text
            return (cursor.fetchone() if cursor.description else None) or ()

    def remove(self) -> None:
        if self._is_running():
            self.stop()
        if self.has_own_disk:
            subprocess.run(["umount", "--lazy", self.data], check=False)
        shutil.rmtree(self.home, ignore_errors=True)

    def _prepare(self) -> None:
        self.port = free_port()
        self.home = Path(tempfile.mkdtemp(prefix="consent-chaos-db-"))
        self.home.chmod(0o700)
        self._give_away(self.home)
        self.data, self.archive = self.home / "data", self.home / "archive"
        self._filler, self.has_own_disk = self.data / "filler", False
        self.url = f"postgres://chaos@127.0.0.1:{self.port}/postgres"

    def _mount(self, megabytes: int) -> list[str]:
        """A file system for the data, where this account may mount one; what `initdb` has to know of it."""
        self.data.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(self.data)]
        self.has_own_disk = subprocess.run(command, capture_output=True, check=False).returncode == 0
        self._give_away(self.data)
        return ["--wal-segsize", "1"]  # megabyte: the next segment is soon wanted

    def _is_running(self) -> bool:
        try:
            self._call("pg_ctl", "status")
        except RuntimeError:
            return False
        return True

    def _give_away(self, path: Path) -> None:
        if os.geteuid() == 0:
            shutil.chown(path, ACCOUNT)

    def _write_settings(self, settings: Mapping[str, str]) -> None:
        with (self.data / "postgresql.conf").open("a") as file:  # the last line of a name holds
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def _wait_until(self, what: str, query: str, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self.query_row(query) != (True,):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{what} took more than {seconds} seconds")
            time.sleep(0.1)

    def _call(self, program: str, *arguments: str) -> None:
        self._as_account(_find(program), "--pgdata", str(self.data), *arguments)

    def _as_account(self, *command: str) -> None:
        own = ["runuser", "-u", ACCOUNT, "--", *command] if os.geteuid() == 0 else [*command]
        # the server outlives the call and must not hold its pipes
        with (self.home / "said").open("ab") as log:
            done = subprocess.run(own, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
        if done.returncode:
            raise RuntimeError(f"{command[0]} failed:\n{(self.home / 'said').read_text()}")


def _find(program: str) -> str:
    """Debian keeps these off the path, one folder for each version."""
    found = shutil.which(program) or next(iter(sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{program}"))[::-1]), None)
    if found is None:
        raise RuntimeError(f"{program} is not installed; it comes with the PostgreSQL server")
    return found
