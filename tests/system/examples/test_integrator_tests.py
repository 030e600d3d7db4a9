"""The example of an integrator's own test suite passes against the real application, run as an integrator runs it."""

import os
import subprocess
import sys

from consent.sandbox.models import SandboxPerson
from tests.callers import Developer
from tests.factories import TestAppFactory
from tests.system.bridge.hosts import ROOT


def run(service: str, token: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "DJANGO", "CONSENT"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "examples/integrator_tests"],
        cwd=ROOT,
        env={**kept, "CONSENT_BASE_URL": f"{service}/api/v1", "CONSENT_DEVELOPER_TOKEN": token},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip


def test_the_suite_passes_and_leaves_nobody_behind(service: str, transactional_db: None) -> None:
    done = run(service, Developer.of(TestAppFactory()).token)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 passed" in done.stdout
    assert not SandboxPerson.objects.exists()


def test_the_suite_fails_where_the_token_is_a_live_one(service: str, api: Developer) -> None:
    done = run(service, api.token)

    assert done.returncode == 1
    assert "test_mode_required" in done.stdout
