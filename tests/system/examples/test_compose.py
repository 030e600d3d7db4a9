"""The small deployment of `deploy/compose/`: its commands on the files of its image, and its proxy; no engine runs."""

import http.client
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.local import releasing
from deploy.local.serving import free_port
from tests.fakes.serving import Answering, serving
from tests.patience import MOST_SECONDS, eventually
from tests.served_site import database_url
from tests.system.bridge.hosts import ROOT

pytestmark = pytest.mark.django_db(transaction=True)
COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose" / "compose.yaml").read_text())
DOCKERFILE = releasing.DOCKERFILE.read_text()
CADDY = shutil.which("caddy")
HOST = "consent.example"


@pytest.fixture
def image(tmp_path: Path) -> dict[str, str]:
    """The environment of a process in a folder with what an image is built from, and this Python's packages."""
    root, packed = tmp_path / "srv", tmp_path / "image.tar.gz"
    releasing.pack_image_context(packed)
    with tarfile.open(packed) as context:
        context.extractall(root, filter="data")
    (tmp_path / "state").mkdir()
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PWD": str(root),
        "CONSENT_VAR": str(tmp_path / "state"),
        "BASE_URL": f"https://{HOST}",
        "BEHIND_TLS_PROXY": "true",
        "REVISION": "c0ffee",
        "DATABASE_URL": database_url(),
        **({"REDIS_URL": os.environ["REDIS_URL"]} if "REDIS_URL" in os.environ else {}),
    }


def started(command: list[str], image: dict[str, str]) -> subprocess.Popen[bytes]:
    with (Path(image["CONSENT_VAR"]) / "log.txt").open("ab") as log:
        return subprocess.Popen(command, cwd=image["PWD"], env=image, stdout=log, stderr=log, start_new_session=True)


def test_the_files_of_the_image_set_up_and_serve(image: dict[str, str]) -> None:
    shell, options, script = COMPOSE["services"]["setup"]["command"]
    subprocess.run([shell, options, script.replace("$$", "$")], cwd=image["PWD"], env=image, check=True)
    (command,) = re.findall(r"^CMD (\[.*?\])$", DOCKERFILE.replace("\\\n", ""), re.MULTILINE | re.DOTALL)
    port = free_port()
    serve = [{"0.0.0.0": "127.0.0.1", "8000": str(port)}.get(each, each) for each in json.loads(command)]
    worker = [
        part.replace("/var/lib/consent", image["CONSENT_VAR"]) for part in COMPOSE["services"]["worker"]["command"]
    ]
    processes = [started(each, image) for each in (serve, worker, COMPOSE["services"]["log"]["command"])]
    try:
        eventually(lambda: status(f"http://127.0.0.1:{port}/readyz") == 200, "an answer of /readyz")
        assert status(f"http://127.0.0.1:{port}/accounts/login/", X_Forwarded_Proto="https") == 200
        assert status(f"http://127.0.0.1:{port}/docs/", X_Forwarded_Proto="https") == 200
        assert [each.poll() for each in processes] == [None] * 3
    finally:
        for each in processes:
            os.killpg(each.pid, signal.SIGTERM)
        for each in processes:
            each.wait(MOST_SECONDS)


def status(address: str, **headers: str) -> int:
    named = {"Host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=named)) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code
    except OSError:
        return 0


def test_every_service_runs_what_the_image_has() -> None:
    ours = [name for name, made in COMPOSE["services"].items() if made.get("image", "").startswith("${IMAGE")]

    assert sorted(ours) == ["log", "server", "setup", "worker"]
    for name in ours:
        made = COMPOSE["services"][name]
        assert (made["read_only"], made["cap_drop"]) == (True, ["ALL"]), name
    assert all(made["logging"]["options"]["max-size"] for made in COMPOSE["services"].values())
    for name in ("server", "worker", "log", "redis"):
        assert COMPOSE["services"][name]["mem_limit"], name
    assert COMPOSE["services"]["setup"]["build"]["args"] == {"REVISION": "${REVISION:-unknown}"}
    assert "USER 10001" in DOCKERFILE
    assert not re.findall(r"^ADD ", DOCKERFILE, re.MULTILINE)


def test_the_proxy_alone_is_reached_from_outside() -> None:
    local = yaml.safe_load((ROOT / "deploy" / "compose" / "compose.local.yaml").read_text())["services"]
    published = {name: made["ports"] for name, made in local.items()}

    assert [name for name, made in COMPOSE["services"].items() if "ports" in made] == ["proxy"]
    assert published == {"postgres": ["127.0.0.1:5432:5432"], "redis": ["127.0.0.1:6379:6379"]}


def test_a_deployment_without_a_name_or_a_password_is_refused() -> None:
    environments = [made.get("environment", {}) for made in COMPOSE["services"].values()]
    given = " ".join(value for each in environments for value in each.values())

    assert set(re.findall(r"\$\{(\w+):\?set it in deploy/compose/\.env\}", given)) == {"HOST", "POSTGRES_PASSWORD"}
    assert set(re.findall(r"\$\{(?:HOST|POSTGRES_PASSWORD)([^}]*)\}", given)) == {":?set it in deploy/compose/.env"}


def test_a_secret_enters_neither_an_image_nor_a_commit() -> None:
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    kept_out = releasing.DOCKERFILE.with_name("Dockerfile.dockerignore").read_text().splitlines()

    assert {"/env", "*.env", "/keys/", "/release.note", "/pages/"} <= set(ignored)
    assert {"keys", "**/.env", "**/*.env"} <= set(kept_out)
    installed = re.findall(r"^ARG LOCK=(\S+)$|--requirement (\S+)", DOCKERFILE, re.MULTILINE)
    assert installed == [("requirements.lock", ""), ("", "${LOCK}")]  # or another of those that it copies
    assert "COPY requirements.lock requirements-tracing.lock ./" in DOCKERFILE


class Upstream(Answering):
    """Answers with the headers that the proxy passed on; below /broken/ with nothing, or with a part."""

    protocol_version = "HTTP/1.1"

    def get(self) -> None:
        if self.path.startswith("/broken/"):
            if self.path.startswith("/broken/cut"):
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\na part")
            self.close_connection = True
            return
        self.answer(200, json.dumps({name.lower(): self.headers[name] for name in self.headers}).encode())


@pytest.fixture
def proxy(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[int, int]]:
    """Ports of the proxy, for TLS and in clear, with a certificate of its own authority."""
    upstream = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    tls, clear = free_port(), free_port()
    made = (ROOT / "deploy" / "compose" / "Caddyfile").read_text()
    made = made.replace("server:8000", f"127.0.0.1:{upstream.server_address[1]}")
    own = f"\n{{\n\tskip_install_trust\n\tadmin off\n\tlocal_certs\n\thttp_port {clear}\n\thttps_port {tls}\n"
    assert made.count("\n{\n") == 1  # the block of options
    (tmp_path / "Caddyfile").write_text(made.replace("\n{\n", own))
    environment = {"HOST": HOST, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    environment |= {"STAFF_NETWORK": staff} if (staff := getattr(request, "param", "")) else {}
    command = [str(CADDY), "run", "--adapter", "caddyfile", "--config", str(tmp_path / "Caddyfile")]
    with (tmp_path / "caddy.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=log, stderr=log)
    try:
        with serving(upstream):
            eventually(lambda: call(f"https://127.0.0.1:{tls}/") is not None, "an answer of the proxy")
            yield tls, clear
    finally:
        process.terminate()
        process.wait(MOST_SECONDS)


class _ByName(ssl.SSLContext):
    """Asks for the certificate of HOST, wherever it connects to."""

    def wrap_socket(self, *arguments: Any, **named: Any) -> ssl.SSLSocket:
        return super().wrap_socket(*arguments, **{**named, "server_hostname": HOST})


class _Stays(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def call(address: str, **headers: str) -> tuple[int, dict[str, str], bytes] | None:
    context = _ByName(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), _Stays())
    request = urllib.request.Request(address, headers={"Host": HOST, **headers})
    try:
        with opener.open(request, timeout=MOST_SECONDS) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, dict(refused.headers), refused.read()
    except OSError:
        return None


@pytest.mark.skipif(CADDY is None, reason="Caddy is not installed")
def test_the_caller_is_whom_the_proxy_saw(proxy: tuple[int, int]) -> None:
    answer = call(f"https://127.0.0.1:{proxy[0]}/", X_Forwarded_For="192.0.2.3", **{"X-Forwarded-For": "192.0.2.1"})

    assert answer is not None
    body = json.loads(answer[2])
    assert (body["x-forwarded-for"], body["x-forwarded-proto"], body["host"]) == ("127.0.0.1", "https", HOST)
    assert not [name for name in body if "_" in name]


@pytest.mark.skipif(CADDY is None, reason="Caddy is not installed")
def test_a_program_in_clear_is_refused_and_a_person_is_led_on(proxy: tuple[int, int]) -> None:
    program = call(f"http://127.0.0.1:{proxy[1]}/api/v1/scope-catalog?token=secret")
    person = call(f"http://127.0.0.1:{proxy[1]}/consent/?token=secret")
    others = ("oauth/token", "oauth/register", "oauth/revoke", ".well-known/oauth-authorization-server")
    hosts = [call(f"http://127.0.0.1:{proxy[1]}/{path}") for path in others]
    authorizing = call(f"http://127.0.0.1:{proxy[1]}/oauth/authorize/?client_id=a")

    assert program is not None
    assert person is not None
    assert authorizing is not None
    assert program[0] == 403
    assert [answer and answer[0] for answer in hosts] == [403] * len(others)
    assert authorizing[0] == 302
    assert (person[0], person[1]["Location"]) == (302, f"https://{HOST}/consent/")


STAFF_PATHS = ("/admin", "/admin/", "/admin/consent/scope/?q=a", "/readyz")


@pytest.mark.skipif(CADDY is None, reason="Caddy is not installed")
@pytest.mark.parametrize("proxy", ["192.0.2.0/24 198.51.100.7"], indirect=True)
def test_what_is_for_staff_is_closed_to_everybody_else(proxy: tuple[int, int]) -> None:
    disguised = ("//admin/", "/%61dmin/", "/ADMIN/", "/people/../admin/")
    answers = [call(f"https://127.0.0.1:{proxy[0]}{path}") for path in (*STAFF_PATHS, *disguised)]
    page = call(f"https://127.0.0.1:{proxy[0]}/people/", **{"X-Forwarded-For": "192.0.2.1"})
    forged = call(f"https://127.0.0.1:{proxy[0]}/admin/", **{"X-Forwarded-For": "192.0.2.1"})

    assert [answer and answer[0] for answer in answers] == [403] * len(answers)
    assert page is not None
    assert forged is not None
    assert (page[0], forged[0]) == (200, 403)


@pytest.mark.skipif(CADDY is None, reason="Caddy is not installed")
def test_what_is_for_staff_is_open_to_their_network(proxy: tuple[int, int]) -> None:
    answers = [call(f"https://127.0.0.1:{proxy[0]}{path}") for path in STAFF_PATHS]

    assert [answer and answer[0] for answer in answers] == [200] * len(answers)


@pytest.mark.skipif(CADDY is None, reason="Caddy is not installed")
def test_an_answer_that_fails_leaves_no_token_in_the_log(proxy: tuple[int, int], tmp_path: Path) -> None:
    failed = call(f"https://127.0.0.1:{proxy[0]}/broken/?token=secret")
    with pytest.raises(http.client.IncompleteRead):
        call(f"https://127.0.0.1:{proxy[0]}/broken/cut?token=secret")

    assert failed is not None
    assert failed[0] == 502
    log = (tmp_path / "caddy.log").read_text()
    assert "serving initial configuration" in log
    assert "secret" not in log
