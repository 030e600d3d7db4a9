"""What is shipped is listed as the lock has it, and a version that something is known about is found."""

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from deploy.local import node, supply
from deploy.local.place import ROOT

KNOWN = {"package": {"name": "django", "ecosystem": "PyPI"}, "version": "5.0.7"}
ADVISORY = {
    "id": "PYSEC-2024-70", "modified": "2024-08-07T17:22:10Z", "published": "2024-08-07T15:15:00Z",
    "details": "SQL by a key of JSON",
    "affected": [{
        "package": {"name": "django", "ecosystem": "PyPI"},
        "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "5.0"}, {"fixed": "5.0.8"}]}],
    }],
}  # fmt: skip


class Service(BaseHTTPRequestHandler):
    """The address of OSV's interface that is asked about one package in one version."""

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"vulns": [ADVISORY]} if question == KNOWN else {}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing to standard error."""


@pytest.fixture
def service() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Service)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1/query"
    server.shutdown()
    server.server_close()


def test_every_pin_of_the_runtime_lock_is_listed_with_its_hashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node, "is_there", lambda: False)

    assert supply.sbom(tmp_path) == 0

    text = (ROOT / "requirements.lock").read_text()
    listed = json.loads((tmp_path / "server.cdx.json").read_text())
    pins = {
        (name.lower(), version) for name, version in re.findall(r"^([\w.-]+)(?:\[.*\])?==(\S+)", text, re.MULTILINE)
    }
    assert {(each["name"].lower(), each["version"]) for each in listed["components"]} == pins
    assert (listed["bomFormat"], listed["specVersion"]) == ("CycloneDX", "1.6")
    assert set(re.findall(r"sha256:(\w{64})", text)) <= set(re.findall(r'"content": "(\w{64})"', json.dumps(listed)))


@pytest.mark.parametrize(("version", "code"), [("5.0.7", 1), ("5.0.8", 0)])
def test_a_version_that_something_is_known_about_is_found(
    service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
    version: str, code: int,
) -> None:  # fmt: skip
    monkeypatch.setattr(node, "is_there", lambda: False)
    lock = tmp_path / "requirements.lock"
    lock.write_text(f"django=={version} --hash=sha256:{'0' * 64}\n")
    options = ["--vulnerability-service", "osv", "--osv-url", service, "--cache-dir", str(tmp_path / "cache")]

    assert supply.advisories(options, [lock]) == code
    assert ("PYSEC-2024-70" in capfd.readouterr().out) is bool(code)
