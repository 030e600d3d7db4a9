"""A large vault in Chromium: unlocked and shown, then its key changed; how long it takes and the longest frame.

    ./run bench vault [--segments 500] [--megabytes 10]

Runs a service of its own with a database of its own. The design wants unlocking and showing 10 MB in 500 segments under
2 s, and no frame over 200 ms while the key is changed.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from bench.staging import chromium, close_connections, parse_options, prepare, sign_in
from consent_bridge.owner import Owner
from deploy.local.place import manage
from deploy.local.serving import free_port, service

DOMAINS = 10
WITHIN_MS, FRAME_MS = 2000, 200
FRAMES = """() => {
  globalThis.longestFrame = 0;
  let last = 0;
  const frame = (now) => {
    if (last) globalThis.longestFrame = Math.max(globalThis.longestFrame, now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""
SHOW = """async (passphrase) => {
  const vault = await import("/static/js/vault/vault.js");
  globalThis.longestFrame = 0;
  const start = performance.now();
  await vault.unlock({ kind: "passphrase", secret: passphrase });
  const segments = await vault.openAll({});
  const list = document.createElement("ul");
  for (const { values } of segments) {
    for (const [name, value] of Object.entries(values)) {
      const line = document.createElement("li");
      line.textContent = `${name}: ${String(value).slice(0, 200)}`;
      list.append(line);
    }
  }
  document.body.append(list);
  await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
  return { took: performance.now() - start, frame: globalThis.longestFrame, segments: segments.length };
}"""


@contextmanager
def large_vault(segments: int, megabytes: float) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a service and its sample person, whose vault holds that much more."""
    port, var = free_port(), Path(tempfile.mkdtemp(prefix="consent-vault-"))
    env = {"BASE_URL": f"http://localhost:{port}", "CONSENT_VAR": str(var), "DATABASE_URL": "", "REDIS_URL": "",
           "DJANGO_SETTINGS_MODULE": "config.settings"}  # fmt: skip
    os.environ.update(env)
    each = segments // DOMAINS
    try:
        prepare(var)
        manage("Making sample data", "sample_data")
        register_segments(each)
        close_connections()
        person = json.loads((var / "sample.json").read_text())["owner"]
        with service(port, env):
            fill(env["BASE_URL"], person, each, int(megabytes * 1_000_000 / segments))
            yield env["BASE_URL"], person
    finally:
        shutil.rmtree(var, ignore_errors=True)


def register_segments(each: int) -> None:
    from pkm.registry.models import Domain, ScopeEntry

    for number in range(DOMAINS):
        key = f"bench{number}"
        domain = Domain.objects.create(domain_key=key, display_name=key)
        for place in (f"{key}.s{n}" for n in range(each)):
            ScopeEntry.objects.create(
                domain=domain, scope=f"attr.{place}.*", scope_label=place, segment_ids=[place],
                attributes=[f"{place}.note"],
            )  # fmt: skip


def fill(address: str, person: dict[str, str], each: int, size: int) -> None:
    line = "Zoe likes Thai food, green tea and long walks. "
    with Owner(address) as owner:
        owner.sign_in(person["email"], person["password"])
        owner.unlock(passphrase=person["passphrase"])
        for domain in range(DOMAINS):
            for number in range(each):
                note = (f"{domain}.{number} " + line * (size // len(line) + 1))[:size]
                owner.write(f"bench{domain}", f"s{number}", {"note": note}, base=0)
            print(f"\rfilled {domain + 1} of {DOMAINS} domains", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def change_key(page: Page, passphrase: str) -> dict[str, float]:
    """Through the page, as people do; from the confirmed code to the end."""
    page.goto("/account/security/key/")
    page.evaluate(FRAMES)
    page.locator("#existing-secret").fill(passphrase)
    page.locator("#passphrase-choice").select_option("same")
    page.locator("#secrets-form button[type=submit]:enabled").click()
    page.locator("#recovery-code code").first.wait_for()
    groups = page.locator("#recovery-code code").all_inner_texts()
    number = int("".join(filter(str.isdigit, page.locator("#confirm-label").inner_text())))
    page.locator("#confirm-group").fill(groups[number - 1])
    page.evaluate("globalThis.longestFrame = 0")
    start = time.monotonic()
    page.locator("#confirm-form button[type=submit]").click()
    page.locator("#done-title").wait_for(timeout=600_000)
    return {"took": (time.monotonic() - start) * 1000, "frame": page.evaluate("globalThis.longestFrame")}


def measure(page: Page, person: dict[str, str]) -> dict[str, Any]:
    sign_in(page, person)
    page.goto("/vault/changes/")
    page.evaluate(FRAMES)
    return {"shown": page.evaluate(SHOW, person["passphrase"]), "changed": change_key(page, person["passphrase"])}


def main() -> int:
    given = parse_options("vault", segments=500, megabytes=10.0)
    with large_vault(given.segments, given.megabytes) as (address, person), chromium() as browser:
        found = measure(browser.new_context(base_url=address, locale="en-GB").new_page(), person)
    shown, changed = found["shown"], found["changed"]
    print(f"{shown['segments']} segments, {given.megabytes:g} MB and the sample's")
    print(f"{'':<18}{'ms':>10}{'longest frame, ms':>20}")
    for name, line in (("unlock and show", shown), ("change of the key", changed)):
        print(f"{name:<18}{line['took']:>10.0f}{line['frame']:>20.0f}")
    kept = shown["took"] < WITHIN_MS and changed["frame"] < FRAME_MS
    print("as wanted" if kept else f"not as wanted: under {WITHIN_MS} ms to be shown, frames under {FRAME_MS} ms")
    return 0 if kept else 1
