"""A service of one's own with people and apps, to be broken or replaced, and nginx in front of it."""

import glob
import os
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench import staging
from bench.faults.cluster import Cluster
from bench.faults.listeners import Receiver
from deploy.local.serving import Child, _end, _server, _start, _wait_until_ready, _worker, free_port

APPS = 2


@dataclass
class Service:
    """The server and the worker, to be killed and started again."""

    port: int
    env: dict[str, str]
    logs: Path
    children: dict[str, Child] = field(default_factory=dict)
    starts: int = 0

    def start(self, name: str, **env: str) -> None:
        self.starts += 1
        command = _server(self.port) if name == "server" else _worker(self.logs)
        self.children[name] = _start(name, command, self.logs / f"{name}-{self.starts}.log", {**self.env, **env})

    def kill(self, name: str, **env: str) -> None:
        """SIGKILL to the process and to those it started, then a fresh one at once; `env` is of that one alone."""
        process = self.children[name].process
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.start(name, **env)

    def end(self) -> None:
        _end(list(self.children.values()))


@dataclass
class Deployment:
    """Who is there, and what they stand on. `env` is the service's; Django is set up on the same database."""

    home: Path
    cluster: Cluster
    receiver: Receiver
    service: Service
    apps: list[staging.StagedApp]
    people: list[staging.StagedPerson]

    @property
    def env(self) -> dict[str, str]:
        return self.service.env

    @property
    def site(self) -> str:
        return self.env["BASE_URL"]


def moved_clock(hours: int) -> dict[str, str]:
    """The environment of a process whose clock is wrong by so much; nothing where libfaketime is not installed."""
    found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    python = os.pathsep.join([str(Path(__file__).with_name("wrong_clock")), os.environ.get("PYTHONPATH", "")])
    own = {"FAKETIME": f"{hours:+}h", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_DISABLE_SHM": "1"}
    return {**own, "PYTHONPATH": python, "LD_PRELOAD": found[0]} if found else {}


@contextmanager
def deployed(
    name: str,
    people: int,
    cluster: Cluster | None = None,
    way: Callable[[str, int], int] = lambda _, port: port,
    apps: int = APPS,
    **settings: str,
) -> Iterator[Deployment]:
    """All of it, on a fresh cluster and with nothing running yet; `settings` are the service's own.

    `way` is given a link's name and the port that it leads to, and says at which port that is reached instead.
    """
    home = Path(tempfile.mkdtemp(prefix=f"consent-{name}-"))
    end_in_order()
    with ExitStack() as stack:
        print("Starting a PostgreSQL of its own …", flush=True)
        cluster = cluster or Cluster()
        stack.callback(cluster.remove)
        receiver = Receiver("whsec_" + secrets.token_hex(16))
        port = free_port()
        env = {
            **staging.LIMITS_OFF,
            "DATABASE_URL": cluster.url.replace(str(cluster.port), str(way("PostgreSQL", cluster.port))),
            "BASE_URL": f"http://localhost:{way('the service', port)}", "LOG_LEVEL": "WARNING",
            "CONSENT_VAR": str(home), "WEBHOOK_INTERNAL_ADDRESSES": "true",
            "DJANGO_SETTINGS_MODULE": "config.settings", **settings,
        }  # fmt: skip
        os.environ.update(env)
        staging.prepare(home)
        made = staging.make_apps(apps)
        receiving = f"http://127.0.0.1:{way('the receiver', receiver.server_port)}/hook"
        for app in made:
            staging.add_webhook(app, receiving, receiver.secret)
        staged = staging.make_people(people)
        staging.close_connections()
        yield Deployment(home, cluster, receiver, Service(port, env, home), made, staged)


def configure_nginx(home: Path, http: str) -> None:
    """Write the file that `start_nginx` reads, with this in its block `http`; all of its own files are in `home`."""
    home.chmod(0o755)  # its workers have another account
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {home}/{kind};\n" for kind in kinds)
    (home / "nginx.conf").write_text(
        f"daemon off; pid {home}/nginx.pid; error_log {home}/nginx.log;\n"
        f"events {{ worker_connections 8192; }}\nhttp {{\n{places}{http}}}\n"
    )


def start_nginx(home: Path) -> Child:
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    return _start("nginx", [program, "-c", str(home / "nginx.conf"), "-p", str(home)], home / "nginx.log", {})


def end_in_order() -> None:
    """At SIGTERM, too, what was started is ended."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def report(wrong: list[str], home: Path, otherwise: str) -> int:
    """Say what is wrong, and keep the logs where anything is; the exit code."""
    for line in wrong[:20]:
        print(f"WRONG  {line}")
    if wrong:
        print(f"{len(wrong)} things are wrong. The logs stay in {home}")
        return 1
    shutil.rmtree(home)
    print(otherwise)
    return 0


def end_of(deployment: Deployment, wrong: list[str]) -> int:
    return report(wrong, deployment.home, "Nothing lost, nothing doubled, nothing missing.")


@contextmanager
def running(service: Service) -> Iterator[None]:
    try:
        for name in ("server", "worker"):
            service.start(name)
        _wait_until_ready(service.port, list(service.children.values()))
        yield
    finally:
        service.end()
