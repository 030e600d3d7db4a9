"""A release of the service from its own source folder, and nginx in front of one or of two."""

import os
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deploy.local.place import ROOT, fail
from deploy.local.serving import Child, _end, _server, _wait_until_ready, _worker, free_port

MIGRATIONS = "*/migrations/*.py"
_LOCKED = ("requirements.lock", "requirements-dev.lock")


@dataclass
class Release:
    """`home` is its CONSENT_VAR; database, keys, queue and the log signer's memory are those of both."""

    name: str
    source: Path
    home: Path
    env: dict[str, str]
    port: int = field(default_factory=free_port)
    children: list[Child] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.home.mkdir(exist_ok=True)
        self.env = {
            **os.environ, **self.env, "CONSENT_VAR": str(self.home), "RELEASE_CHECK": "warn",
            "PYTHONPATH": f"{self.source}:{self.source / 'bridge'}",
        }  # fmt: skip

    def python(self, *arguments: str) -> str:
        """What a program of its own printed."""
        command = [str(self.source / ".venv/bin/python"), *arguments]
        done = subprocess.run(command, cwd=self.source, env=self.env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{self.name}: {' '.join(arguments)[:80]} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def manage(self, *arguments: str) -> str:
        return self.python("manage.py", *arguments)

    def start(self) -> None:
        """The server and the worker, ready."""
        for name, command in {"server": _server(self.port), "worker": _worker(self.home)}.items():
            log = self.home / f"{name}.log"
            program = str(self.source / ".venv/bin" / Path(command[0]).name)
            with log.open("ab") as said:
                process = subprocess.Popen(
                    [program, *command[1:]], cwd=self.source, env=self.env, stdin=subprocess.DEVNULL, stdout=said,
                    stderr=said, start_new_session=True,
                )  # fmt: skip
            self.children.append(Child(f"{name} of {self.name}", command, self.env, process, log))
        _wait_until_ready(self.port, self.children)

    def stop(self) -> None:
        _end(self.children)
        self.children = []


@dataclass
class Front:
    """nginx, which hands each request to the next of the releases that it knows of."""

    home: Path
    port: int = field(default_factory=free_port)
    read: int = 0
    process: "subprocess.Popen[bytes] | None" = None

    def lead_to(self, *releases: Release) -> None:
        """From now on requests go to these; what is under way is answered by whom it went to."""
        servers = " ".join(f"server 127.0.0.1:{release.port};" for release in releases)
        places = "".join(
            f"{kind}_temp_path {self.home}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        configuration = self.home / "nginx.conf"
        configuration.write_text(
            f"daemon off; pid {self.home}/nginx.pid; error_log {self.home}/nginx.log; events {{}}\n"
            f"http {{ {places} log_format told '$status $upstream_addr $request_time $request_method $uri';\n"
            f"access_log {self.home}/requests told; upstream service {{ {servers} }}\n"
            f"server {{ listen 127.0.0.1:{self.port}; client_max_body_size 20m; location / {{\n"
            "proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Host $http_host;\n"
            'proxy_set_header Connection ""; proxy_buffering off; proxy_next_upstream off; } } }\n'
        )
        if self.process:
            self.process.send_signal(1)  # SIGHUP
            time.sleep(2)  # its old processes end with the requests that they have
        else:
            program = shutil.which("nginx") or "/usr/sbin/nginx"
            self.process = subprocess.Popen([program, "-c", str(configuration), "-p", str(self.home)])

    def end(self) -> None:
        if self.process:
            self.process.terminate()
            self.process.wait(30)

    def told(self) -> "Told":
        """Of the requests since this was asked last."""
        with (self.home / "requests").open() as log:
            log.seek(self.read)
            lines, self.read = log.readlines(), log.tell()
        told = Told()
        for line in lines:
            status, server, seconds, method, path = line.split(maxsplit=4)
            told.count(int(status), server, float(seconds), f"{method} {_kind(path.strip())}")
        return told


@dataclass
class Told:
    """Requests by who answered, by kind and status; `slowest` of those that were not held on purpose, in seconds."""

    by_server: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    failed: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0

    def count(self, status: int, server: str, seconds: float, kind: str) -> None:
        self.by_server[server][kind] += 1
        if status >= 500:
            self.failed[f"{kind}: {status} of {server}"] += 1
        if "events" not in kind:
            self.slowest = max(self.slowest, seconds)

    def of(self, release: Release) -> Counter[str]:
        return self.by_server.get(f"127.0.0.1:{release.port}", Counter())


def _kind(path: str) -> str:
    """A path without what is about one thing alone."""
    return "/".join("…" if "_" in part and len(part) > 20 else part for part in path.split("/"))


# --- Which one is the earlier ---------------------------------------------------------------------------------------


def newest_with_other_migrations() -> str:
    """The newest commit before this one to whose migrations some were added; `Stop` where the history has none.

    One of which a migration was changed or taken away since stands between two releases: it is passed over and named.
    """
    for commit in _git("log", "--format=%H", "--", MIGRATIONS).split():
        earlier = _git("rev-parse", "--verify", "--quiet", f"{commit}^", may_fail=True).strip()
        if not earlier or not _git("diff", "--name-only", earlier, "--", MIGRATIONS).strip():
            continue
        changed = _git("diff", "--name-only", "--diff-filter=a", earlier, "--", MIGRATIONS).split()
        if not changed:
            return earlier
        print(f"{earlier[:7]} is passed over: since then {', '.join(changed)} changed", flush=True)
    return fail(
        "The history of this clone has no earlier release: `git fetch --unshallow`, or name a commit: --earlier REV."
    )


def unpack(commit: str, folder: Path) -> str:
    """The source of a commit, with packages as its lock files say; its hash in short."""
    name = _git("rev-parse", "--short", "--verify", f"{commit}^{{commit}}").strip()
    packed = subprocess.run(["git", "archive", name], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    folder.mkdir()
    subprocess.run(["tar", "--extract", "--directory", str(folder)], input=packed.stdout, check=True)
    if all((folder / lock).read_bytes() == (ROOT / lock).read_bytes() for lock in _LOCKED):
        (folder / ".venv").symlink_to(ROOT / ".venv")
    else:  # its own command makes what it needs
        own = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CONSENT_VAR")}
        subprocess.run([sys.executable, "run", "bench", "nothing"], cwd=folder, env=own, check=False)
    return name


def changed_since(commit: str) -> Iterator[str]:
    """Migrations that were there and are others now: a database that has them never gets what was changed."""
    for line in _git("diff", "--name-status", "--diff-filter=MDR", commit, "--", MIGRATIONS).splitlines():
        yield f"a migration that landed was changed: {line.split(maxsplit=1)[1]}"


def _git(*arguments: str, may_fail: bool = False) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode and not may_fail:
        fail(
            f"git {arguments[0]} says: {done.stderr.strip() or 'nothing'}. Two releases need a clone with its history."
        )
    return done.stdout


def shared(first: Path, second: Path, names: Sequence[str]) -> None:
    """Folders that both releases use, and the secrets of the first."""
    second.mkdir(exist_ok=True)
    shutil.copy(first / "env", second / "env")
    for name in names:
        (first / name).mkdir(exist_ok=True)
        (second / name).symlink_to(first / name)
