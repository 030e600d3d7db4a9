"""Approving in Chromium with the vault's signature, and the same without it: what signing adds, in one run.

    ./run bench approving [--rounds 40]

Runs a service of its own with a database of its own. Each round asks for consent twice and approves both with the
page's own modules: once as the page does, and once with what was signed before the clock began. Which of the two
comes first changes from round to round. "sealing" is from the values to the sealed copy, "approval" from the values
to the service's answer, in milliseconds; a ratio is the median of the rounds' own. The service checks signatures
either way, so what a check takes is measured here, too, and counted against the approval that signs. The design wants
neither more than 10 % above what it was.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Page, sync_playwright

from consent_bridge import sealed
from consent_bridge.client import Client
from consent_bridge.owner import Owner
from consent_bridge.signing import certificate, signed_approval
from deploy.local.place import manage as manage_command
from deploy.local.serving import free_port, service
from pkm import signatures
from tests.system.browser.sealing.chromium import ARGUMENTS, find_chromium

SIZES = {"4 kB": 4_000, "200 kB": 200_000, "1 MB": 1_000_000}
MOST = 1.10
KEY = sealed.generate_connector_key()
NO_LIMITS = ("PENDING_REQUESTS_PER_PERSON", "REQUESTS_PER_PERSON_PER_DAY", "REQUEST_BUDGET_PER_HOUR")
UNLOCK = """async (passphrase) => {
  const vault = await import("/static/js/vault/vault.js");
  await vault.unlock({ kind: "passphrase", secret: passphrase });
}"""
APPROVE = """async ([requestId, attributes, signing]) => {
  const api = await import("/static/js/vault/api.js");
  const { signedApproval } = await import("/static/js/vault/approvals.js");
  const { sealExport } = await import("/static/js/vault/exports.js");
  const { openAll } = await import("/static/js/vault/reading.js");
  const { buildSlice, exportMembers, loadRequest, preview } = await import("/static/js/vault/review.js");
  await preview(requestId);
  const data = await loadRequest(requestId);
  const { request } = data;
  const segments = await openAll({ scope: request.scope });
  const members = exportMembers(data);
  const sealedSlice = async () => {
    const slice = buildSlice(request.scope, attributes, segments);
    return [slice, await sealExport(slice, members, data.connector_public_key)];
  };
  const sign = (slice, jwe) =>
    signedApproval(members, { attributes: slice.approved_attributes, accessDuration: request.access_duration, jwe });
  const [, early] = await sealedSlice(); // either way, so that what is timed is as warm
  const earlier = await sign(buildSlice(request.scope, attributes, segments), early);
  await new Promise((done) => setTimeout(done, 50));
  const start = performance.now();
  const [slice, late] = await sealedSlice();
  const sealing = performance.now() - start;
  const [jwe, signed] = signing ? [late, await sign(slice, late)] : [early, earlier];
  const signingTook = performance.now() - start - sealing;
  await api.decide(requestId, { decision: "approve", request_digest: data.request_digest,
    access_duration: request.access_duration, approved_attributes: slice.approved_attributes, sources: slice.sources,
    jwe, ...signed });
  return { sealing, signing: signingTook, approval: performance.now() - start };
}"""


@contextmanager
def running() -> Iterator[tuple[str, dict[str, Any]]]:
    """The address of a service without limits on asking, and its sample people."""
    port, var = free_port(), Path(tempfile.mkdtemp(prefix="consent-approving-"))
    env = {"BASE_URL": f"http://localhost:{port}", "CONSENT_VAR": str(var), "DATABASE_URL": "", "REDIS_URL": ""}
    env |= dict.fromkeys(NO_LIMITS, "0")
    os.environ.update(env)
    try:
        manage_command("Making the secrets", "make_keys", "--directory", str(var))
        for command in (["migrate", "--no-input"], ["sync_registry"], ["collectstatic", "--no-input"], ["sample_data"]):
            manage_command(f"{command[0]}", *command, "--verbosity", "0")
        with service(port, env):
            yield env["BASE_URL"], json.loads((var / "sample.json").read_text())
    finally:
        shutil.rmtree(var, ignore_errors=True)


def sign_in(page: Page, person: dict[str, str]) -> None:
    page.goto("/accounts/login/")
    page.locator("input[name=login]").fill(person["email"])
    page.locator("input[name=password]").fill(person["password"])
    page.locator("input[name=password]").press("Enter")
    page.wait_for_url(lambda url: "/accounts/login/" not in url)
    page.goto("/vault/changes/")
    page.evaluate(UNLOCK, person["passphrase"])


def approved(page: Page, client: Client, person: str, *, signing: bool) -> dict[str, float]:
    """One request, approved; milliseconds of its parts."""
    asked = client.request_consent(
        person,
        "attr.lifestyle.food.*",
        purpose="Suggest restaurants near you",
        key=KEY,
    )
    told: dict[str, float] = page.evaluate(APPROVE, [asked.request_id, ["lifestyle.food.note"], signing])
    return told


def checking() -> float:
    """Milliseconds that the service takes to check one approval and the certificate of its key."""
    root = sealed.generate_root()
    names = {"iss": "https://consent.example", "sub": "usr_a", "aud": "app_a"}
    members = {**names, "request_id": "req_a", "request_digest": "A" * 43, "revision": 1}
    made = signed_approval(
        root, members, approved_attributes=["lifestyle.food.note"], access_duration=86400, sealed="a.b.c.d.e"
    )
    own = certificate(root, *names.values())
    taken = []
    for _ in range(200):
        start = time.perf_counter()
        key = signatures.check_public_key(made["approval_key"])
        signatures.verified(own, typ="approval-key+jwt", key=signatures.check_public_key(root.key.public))
        signatures.verified(made["approval"], typ="consent-approval+jwt", key=key)
        taken.append((time.perf_counter() - start) * 1000)
    return median(taken)


Taken = dict[bool, list[dict[str, float]]]  # by whether it signed, round by round


def measure(address: str, sample: dict[str, Any], page: Page, rounds: int) -> dict[str, Taken]:
    """By size."""
    person, found = sample["owner"], {}
    with Owner(address) as owner, Client(f"{address}/api/v1", sample["developer"]["token"]) as client:
        owner.sign_in(person["email"], person["password"])
        owner.unlock(passphrase=person["passphrase"])
        sign_in(page, person)
        for name, size in SIZES.items():
            owner.update("lifestyle", "food", {"note": ("Thai food and long walks. " * (size // 26 + 1))[:size]})
            taken: Taken = {True: [], False: []}
            for number in range(rounds + 1):
                for signing in (number % 2 == 0, number % 2 == 1):
                    taken[signing].append(approved(page, client, person["user_id"], signing=signing))
            found[name] = {signing: every[1:] for signing, every in taken.items()}  # the first warms up
    return found


def report(found: dict[str, Taken], rounds: int, check: float) -> bool:
    """Whether it is as wanted."""
    wanted = True
    print(f"{rounds} rounds; a check by the service {check:.2f} ms")
    print(
        f"{'':<8}{'sealing':>10}{'without':>10}{'ratio':>8}{'signing':>10}{'approval':>10}{'without':>10}{'ratio':>8}"
    )
    for name, taken in found.items():
        for one in taken[False]:
            one["approval"] -= check
        mean = {
            signing: {part: median(one[part] for one in every) for part in every[0]} for signing, every in taken.items()
        }
        ratio = {
            part: median(a[part] / b[part] for a, b in zip(taken[True], taken[False], strict=True))
            for part in ("sealing", "approval")
        }
        wanted = wanted and max(ratio.values()) <= MOST
        line = f"{name:<8}"
        for part in ("sealing", "approval"):
            line += f"{mean[True][part]:>10.1f}{mean[False][part]:>10.1f}{ratio[part]:>8.2f}"
            line += f"{mean[True]['signing']:>10.1f}" if part == "sealing" else ""
        print(line)
    return wanted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    executable = find_chromium()
    if executable is None:
        sys.exit("No Chromium found; set CHROMIUM to its path.")
    with running() as (address, sample), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, headless=True, args=ARGUMENTS)
        page = browser.new_context(base_url=address, locale="en-GB").new_page()
        found = measure(address, sample, page, rounds)
        browser.close()
    kept = report(found, rounds, checking())
    print("as wanted" if kept else f"not as wanted: at most {MOST:.2f}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
