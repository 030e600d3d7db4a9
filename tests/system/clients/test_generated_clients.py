"""The OpenAPI document with others: linters, and clients that compile and read an export of the running service."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from consent.api.openapi import document, served_document
from tests.factories import ExportFactory
from tests.system.bridge_js.node import ROOT, install, run

HERE = ROOT / "tests" / "system" / "clients"
OPERATIONS = {operation["operationId"] for item in document()["paths"].values() for operation in item.values()}


@pytest.fixture
def reading(service, transactional_db, api):
    """An app's approved export, and what a program needs to read it."""
    export = ExportFactory(grant__request__app=api.app)
    return export, {"SERVICE": service, "TOKEN": api.token, "REQUEST_ID": export.grant.request.request_id}


@pytest.fixture
def written(tmp_path):
    """The document in a file."""
    (tmp_path / "openapi.json").write_text(json.dumps(document()))
    return tmp_path


def called(*words, cwd, **environ):
    """What a command printed, where it did what it was called for."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_TARGET"))}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**inherited, **environ},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def test_linters_find_no_error(tmp_path):
    """Redocly's recommended rules and Spectral's for OpenAPI; they end with 1 where there is one."""
    modules = install(ROOT / "tests" / "node")
    (tmp_path / "openapi.json").write_text(json.dumps(served_document()))
    (tmp_path / ".spectral.json").write_text('{"extends": "spectral:oas"}')

    run(modules / "@redocly/cli/bin/cli.js", "lint", "openapi.json", cwd=tmp_path, REDOCLY_TELEMETRY="off")
    run(modules / "@stoplight/spectral-cli/dist/index.js", "lint", "openapi.json", cwd=tmp_path)


def test_a_client_made_by_openapi_typescript(written, reading):
    export, environ = reading
    modules = install(HERE)
    (written / "node_modules").symlink_to(modules)
    shutil.copy(HERE / "usage.ts", written)
    (written / "package.json").write_text('{"type": "module"}')

    run(modules / "openapi-typescript" / "bin" / "cli.js", "openapi.json", "-o", "api.d.ts", cwd=written)
    strict = ["--strict", "--module", "nodenext", "--target", "es2022", "--types", "node", "--outDir", "out"]
    run(modules / "typescript" / "bin" / "tsc", *strict, "usage.ts", cwd=written)
    body = json.loads(run(written / "out" / "usage.js", cwd=written, **environ))

    assert body == {
        "jwe": export.ciphertext,
        "paths": export.grant.approved_attributes,
        "code": "unknown_request",
        "ends": "ends",
        "streamed": "consent",
    }
    types = (written / "api.d.ts").read_text()
    assert {name for name in OPERATIONS if f"    {name}: {{" not in types} == set()


def test_a_client_made_by_openapi_python_client(written, reading):
    export, environ = reading
    called(sys.executable, "-m", "venv", "--without-pip", "tools", cwd=written)
    tools = written / "tools" / "bin"
    locked = ["--quiet", "--no-compile", "--require-hashes", "--no-deps", "--requirement", HERE / "requirements.lock"]
    called(sys.executable, "-m", "pip", "--python", tools / "python", "install", *locked, cwd=written)

    words = ["generate", "--path", "openapi.json", "--output-path", "made", "--meta", "none", "--fail-on-warning"]
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"  # it formats what it made, with what stands beside it
    called(tools / "openapi-python-client", *words, cwd=written, PATH=path)
    shutil.copy(HERE / "usage.py", written)
    body = json.loads(called(tools / "python", "-W", "error", "usage.py", cwd=written, **environ))

    assert (body["jwe"], body["paths"], body["code"]) == (
        export.ciphertext,
        export.grant.approved_attributes,
        "unknown_request",
    )
    assert body["modules"] > len(OPERATIONS)
