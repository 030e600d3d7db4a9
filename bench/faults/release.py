"""A release of the service from its own source folder, and nginx in front of one or of two."""

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from deploy.local.place import ROOT, fail
from deploy.local.serving import Child, _end, _server, _wait_until_ready, _worker, free_port

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

    def beside(self, name: str, home: Path, env: dict[str, str]) -> "Release":
        """This checkout's own source, with the secrets and the queue of this one."""
        home.mkdir()
        shutil.copy(self.home / "env", home / "env")
        for shared in ("queue", "queue-control"):
            (self.home / shared).mkdir(exist_ok=True)
            (home / shared).symlink_to(self.home / shared)
        return Release(name, ROOT, home, env)

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
            f"http {{ {places} log_format own '$status $upstream_addr $request_time $request_method $uri';\n"
            f"access_log {self.home}/requests own; upstream service {{ {servers} }}\n"
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

    def answers(self) -> "Answers":
        """Of the requests since this was asked last."""
        with (self.home / "requests").open() as log:
            log.seek(self.read)
            lines, self.read = log.readlines(), log.tell()
        answers = Answers()
        for line in lines:
            status, server, seconds, method, path = line.split(maxsplit=4)
            answers.count(int(status), server, float(seconds), f"{method} {path.strip()}")
        return answers


@dataclass
class Answers:
    """By which server, and what failed; `slowest` of those that were not held on purpose, in seconds."""

    by_server: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0

    def count(self, status: int, server: str, seconds: float, call: str) -> None:
        self.by_server[server] += 1
        if status >= 500:
            self.failed[f"{call}: {status} of {server}"] += 1
        if "events" not in call:
            self.slowest = max(self.slowest, seconds)

    def of(self, release: Release) -> int:
        return self.by_server[f"127.0.0.1:{release.port}"]


# --- The earlier one ------------------------------------------------------------------------------------------------


def newest_tag() -> str:
    """The newest release before this commit; empty where there is none yet."""
    done = subprocess.run(
        ["git", "describe", "--tags", "--abbrev=0", "HEAD^"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


@contextmanager
def worktree(tag: str, folder: Path) -> Iterator[None]:
    """The source of a release, with packages as its lock files say."""
    _git("worktree", "add", "--quiet", "--detach", str(folder), tag)
    try:
        if all((folder / lock).read_bytes() == (ROOT / lock).read_bytes() for lock in _LOCKED):
            (folder / ".venv").symlink_to(ROOT / ".venv")
        else:  # its own command makes what it needs
            own = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CONSENT_VAR")}
            subprocess.run([sys.executable, "run", "bench", "nothing"], cwd=folder, env=own, check=False)
        yield
    finally:
        _git("worktree", "remove", "--force", str(folder))


def changed_since(tag: str) -> Iterator[str]:
    """Migrations that were there and are others now: a database that has them never gets what was changed."""
    for line in _git("diff", "--name-status", "--diff-filter=MDR", tag, "--", "*/migrations/*.py").splitlines():
        yield f"a migration that was released was changed: {line.split(maxsplit=1)[1]}"


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        fail(f"git {arguments[0]} says: {done.stderr.strip() or 'nothing'}")
    return done.stdout
