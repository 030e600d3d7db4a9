"""How soon a request can be decided: over a slow line (400 ms, 50 kB/s) and with an empty cache.

    ./run bench sheet

Prints requests and octets in all, with what is loaded ahead for unlocking, when something is seen, and when all works;
then each request with its begin, end and octets.
"""

import json
from typing import Any

from playwright.sync_api import Page

from bench.shot_stage import stage
from bench.staging import chromium, sign_in

LATENCY_MS, OCTETS_A_SECOND = 400, 50_000
WINDOW = {"width": 390, "height": 844}
USABLE = """() => {
  const works = (at) => { const button = document.querySelector(at); return button && !button.disabled; };
  const counted = document.querySelector("#ticked-count")?.textContent;
  return counted && works("#approve") && works("#unlock-panel button[type=submit]");
}"""


def main() -> None:
    with stage() as scene, chromium() as browser:
        signed_in = browser.new_context(base_url=scene.address, viewport=WINDOW)
        sign_in(signed_in.new_page(), scene.sample["owner"])
        context = browser.new_context(viewport=WINDOW, storage_state=signed_in.storage_state())
        _measure(context.new_page(), f"{scene.address}/consent/requests/{scene.names['pending']}/")


def _measure(page: Page, url: str) -> None:
    line = page.context.new_cdp_session(page)
    line.send("Network.enable")
    slow = {"latency": LATENCY_MS, "downloadThroughput": OCTETS_A_SECOND, "uploadThroughput": OCTETS_A_SECOND}
    line.send("Network.emulateNetworkConditions", {"offline": False, **slow})
    seen: dict[str, list[Any]] = {}
    line.on(
        "Network.requestWillBeSent",
        lambda event: seen.update({event["requestId"]: [event["timestamp"], event["request"]["url"]]}),
    )
    line.on(
        "Network.loadingFinished",
        lambda event: seen[event["requestId"]].extend((event["timestamp"], event["encodedDataLength"])),
    )
    page.goto(url, wait_until="commit")
    page.wait_for_function(USABLE, polling=50)
    usable = page.evaluate("performance.now()")
    page.wait_for_load_state("networkidle")
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    total = sum(event[3] for event in seen.values())
    print(json.dumps({"requests": len(seen), "octets": total, "seen_ms": painted, "usable_ms": usable}))
    began = min(event[0] for event in seen.values())
    for start, address, end, octets in sorted(seen.values()):
        print(f"{start - began:7.2f} {end - began:6.2f} {octets:7d} {address.split('/', 3)[3]}")
