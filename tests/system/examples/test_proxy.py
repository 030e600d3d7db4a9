"""The proxy of `deploy/nginx/` as it is, in a real nginx: its limits, and whom it says a call comes from."""

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.fakes.serving import Answering, serving
from tests.patience import MOST_SECONDS, eventually
from tests.system.bridge.hosts import ROOT

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")

# Stands for the wide world: whom nginx takes a caller for is what this header of the test says.
WORLD = "set_real_ip_from 127.0.0.1; real_ip_header X-Test-Address;"


class Upstream(Answering):
    """Answers with the headers that the proxy passed on."""

    protocol_version = "HTTP/1.1"

    def get(self) -> None:
        body = json.dumps({name.lower(): self.headers.get_all(name) for name in self.headers}).encode()
        self.answer(429 if self.path == "/refused" else 200, body, {"X-Path": self.path})


class Proxy(NamedTuple):
    """Its two addresses, for TLS and for plain HTTP."""

    tls: str
    plain: str


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """Ports, names of files and the certificate are this test's, all else is the example's."""
    folder = tmp_path_factory.mktemp("nginx")
    upstream = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    with _listening() as tls, _listening() as plain:
        addresses = Proxy(_address(tls), _address(plain))
        (folder / "nginx.conf").write_text(_main(folder, _site(folder, addresses, upstream.server_address[1])))
        _certificate(folder)
        tried = subprocess.run(_command(folder, "-t"), capture_output=True, text=True, check=False)
        assert tried.returncode == 0, tried.stderr
        assert "warn" not in tried.stderr
        # as nginx hands its own over to a newer one: a port that was free a moment ago may be a connection's by now
        handed_over = {"NGINX": "".join(f"{taken.fileno()};" for taken in (tls, plain))}
        process = subprocess.Popen(
            _command(folder, "-g", "daemon off;"),
            env=os.environ | handed_over,
            pass_fds=[tls.fileno(), plain.fileno()],
            stderr=subprocess.DEVNULL,
        )
    try:
        with serving(upstream):
            yield addresses
    finally:
        process.terminate()
        process.wait(MOST_SECONDS)


def _listening() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0), backlog=511)


def _address(listening: socket.socket) -> str:
    return f"127.0.0.1:{listening.getsockname()[1]}"


def _site(folder: Path, addresses: Proxy, upstream: int) -> str:
    text = (ROOT / "deploy" / "nginx" / "consent.conf").read_text()
    rate = "zone=consent_accounts:10m rate="
    assert f"{rate}5r/s" in text
    text = text.replace(f"{rate}5r/s", f"{rate}1r/m")  # so that a slow flood is one, too
    text = re.sub(r"server unix:[^;]+;", f"server 127.0.0.1:{upstream};", text)
    text = re.sub(r" *listen \[::\].*\n", "", text)  # the two above are all that this test has
    text = text.replace("listen 80;", f"listen {addresses.plain};").replace("listen 443", f"listen {addresses.tls}")
    away = f"location = /away {{ proxy_pass http://unix:{folder}/none; }}"  # a group that is stopped
    text = text.replace("location = /livez", f"{away}\n    location = /livez", 1)
    return text.replace("/etc/ssl/consent/", f"{folder}/").replace("/var/log/nginx/", f"{folder}/")


def _main(folder: Path, site: str) -> str:
    temporary = " ".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root; " if os.geteuid() == 0 else ""  # whose folder this is
    return (
        f"{user}pid {folder}/pid; error_log {folder}/main.log; worker_processes 1;\n"
        f"events {{ worker_connections 1024; }}\nhttp {{\n{temporary}\n{WORLD}\n{site}\n}}\n"
    )


def _certificate(folder: Path) -> None:
    command = [
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
        "-subj", "/CN=consent.example", "-keyout", folder / "privkey.pem", "-out", folder / "fullchain.pem",
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)


def _command(folder: Path, *more: str) -> list[str]:
    return [str(NGINX), "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "main.log"), *more]


def call(address: str, there: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """As a caller from `there`."""
    named = {"Host": "consent.example", "X-Test-Address": there}
    named |= {name.replace("__", "-"): value for name, value in headers.items()}
    trusting = ssl._create_unverified_context()
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=named), context=trusting) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, dict(refused.headers), refused.read()


def flood(address: str, callers: list[str]) -> Counter[int]:
    """One call of each at the accounts; no more pass than the limit's 40 at once, and those that it adds meanwhile."""
    with ThreadPoolExecutor(8) as pool:
        seen = Counter(status for status, _, _ in pool.map(lambda there: call(address, there), callers))
    assert 40 <= seen[200] <= 45
    return seen


def test_the_caller_is_whom_the_proxy_saw(proxy: Proxy) -> None:
    forged = {"X__Forwarded__For": "192.0.2.1, 192.0.2.2", "X_Forwarded_For": "192.0.2.3"}

    _, _, seen = call(f"https://{proxy.tls}/", "203.0.113.1", **forged)

    body = json.loads(seen)
    assert body["x-forwarded-for"] == ["203.0.113.1"]
    assert not [name for name in body if "_" in name]


def test_a_flood_at_the_accounts_is_refused_before_it_arrives(proxy: Proxy) -> None:
    assert set(flood(f"https://{proxy.tls}/accounts/login/", ["203.0.113.2"] * 200)) == {200, 429}

    status, headers, body = call(f"https://{proxy.tls}/accounts/login/", "203.0.113.2")
    assert status == 429
    assert headers["Retry-After"] == "5"
    assert body == b"Too many requests. Try again in a few seconds.\n"
    assert call(f"https://{proxy.tls}/accounts/login/", "203.0.113.3")[0] == 200
    assert call(f"https://{proxy.tls}/api/v1/scope-catalog", "203.0.113.2")[0] == 200


def test_a_subscriber_of_ipv6_is_one_caller(proxy: Proxy) -> None:
    assert set(
        flood(f"https://{proxy.tls}/accounts/login/", [f"2001:db8:1:2::{number:x}" for number in range(200)])
    ) == {200, 429}

    assert call(f"https://{proxy.tls}/accounts/login/", "2001:db8:1:3::1")[0] == 200


def test_what_the_service_refuses_arrives_as_it_is(proxy: Proxy) -> None:
    status, headers, body = call(f"https://{proxy.tls}/refused", "203.0.113.4")

    assert (status, "Retry-After" in headers) == (429, False)
    assert json.loads(body)["x-forwarded-for"] == ["203.0.113.4"]


@pytest.mark.parametrize(
    ("path", "arrives_as"),
    [
        ("/admin/", "/admin/"),
        ("/admin/consent/scope/?q=a", "/admin/consent/scope/?q=a"),
        ("/readyz", "/readyz"),
        ("/readyz/slow", "/readyz"),
        ("/readyz/tools", "/readyz"),
    ],
)
def test_what_is_for_staff_and_watchers_is_open_to_nobody_else(proxy: Proxy, path: str, arrives_as: str) -> None:
    status, headers, _ = call(f"https://{proxy.tls}{path}", "127.0.0.1")

    assert (status, headers["X-Path"]) == (200, arrives_as)
    for disguised in (path, f"/{path}", f"/%{ord(path[1]):x}{path[2:]}", f"/people/..{path}"):
        assert call(f"https://{proxy.tls}{disguised}", "203.0.113.5")[0] == 403, disguised


def test_the_log_says_neither_a_secret_nor_whom_an_app_asks_about(
    proxy: Proxy, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for path in (
        "user-scopes/usr_abc?token=cr_live_x",
        "user-scopes/sh_abc",
        "sandbox/people/usr_abc/clock?a=/usr_abc",
        "people?query=usr_abc",
    ):
        call(f"https://{proxy.tls}/api/v1/{path}", "203.0.113.9")
    for path in ("developers/invitations", "accounts/password/reset/key", "accounts/confirm-email"):
        call(f"https://{proxy.tls}/{path}/secret/", "203.0.113.9")

    def logged() -> list[str]:
        (log,) = tmp_path_factory.getbasetemp().glob("nginx[0-9]/consent.log")
        return re.findall(r'^203\.0\.113\.9 \S+ "GET (\S+)"', log.read_text(), re.MULTILINE)

    eventually(lambda: len(logged()) == 7, "the log of seven requests")
    assert logged() == [
        "/api/v1/user-scopes/usr_-",
        "/api/v1/user-scopes/sh_-",
        "/api/v1/sandbox/people/usr_-/clock",
        "/api/v1/people",
        "/developers/invitations/-",
        "/accounts/password/reset/key/-",
        "/accounts/confirm-email/-",
    ]


def test_no_log_has_a_token_while_a_group_is_away(proxy: Proxy, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert call(f"https://{proxy.tls}/away?token=cr_live_secret", "203.0.113.8")[0] == 502

    (folder,) = tmp_path_factory.getbasetemp().glob("nginx[0-9]")
    eventually(lambda: " 502 " in (folder / "consent.log").read_text(), "the log of the request")
    assert [log.name for log in folder.glob("*.log") if "cr_live_secret" in log.read_text()] == []


class _Stays(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any) -> None:
        return None


@pytest.mark.parametrize(
    ("path", "status", "location"),
    [
        ("/consent/?token=secret", 301, "https://consent.example/consent/"),
        ("/accounts/login/", 301, "https://consent.example/accounts/login/"),
        ("/api/v1/consent-status?token=secret", 403, None),
        ("/api/a2a/x", 403, None),
        ("/mcp", 403, None),
        ("/oauth/token", 403, None),
        ("/oauth/register", 403, None),
        ("/oauth/revoke", 403, None),
        ("/oauth/authorize/?client_id=a", 301, "https://consent.example/oauth/authorize/"),
        ("/.well-known/oauth-authorization-server", 403, None),
        ("/.well-known/consent-checkpoint.json", 403, None),
    ],
)
def test_only_pages_lead_from_plain_http_to_tls(proxy: Proxy, path: str, status: int, location: str | None) -> None:
    request = urllib.request.Request(f"http://{proxy.plain}{path}", headers={"Host": "consent.example"})

    with pytest.raises(urllib.error.HTTPError) as answer:
        urllib.request.build_opener(_Stays).open(request)

    with answer.value as refused:
        assert (refused.code, refused.headers["Location"]) == (status, location)


@pytest.mark.parametrize(
    ("cipher", "is_taken"),
    [("ECDHE-ECDSA-AES128-GCM-SHA256", True), ("ECDHE-ECDSA-AES128-SHA", False), ("AES128-GCM-SHA256", False)],
)
def test_the_proxy_takes_strong_ciphers_alone(proxy: Proxy, cipher: str, is_taken: bool) -> None:
    context = ssl._create_unverified_context()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(cipher)
    with socket.create_connection(("127.0.0.1", int(proxy.tls.rpartition(":")[2]))) as plain:
        try:
            with context.wrap_socket(plain, server_hostname="consent.example") as wrapped:
                taken = wrapped.cipher()
        except (ssl.SSLError, ConnectionError):
            taken = None

    assert (taken is not None and taken[0] == cipher) is is_taken
