"""How long sealing and opening take in Chromium, and how long the page stands still meanwhile.

    ./run bench sealing [--rounds 5]

Prints medians for exports of 4 KiB, 200 kB, 1 MB and 10 MB, for both connector curves, from the values to the body of
the POST. "standstill" is the longest time in which a timer of the page could not run. The design wants 10 MB under
1.5 s and a page that does not freeze.
"""

import sys
from statistics import median
from typing import Any

from bench.staging import parse_options
from tests.system.browser.sealing.chromium import Driver, Tab, find_chromium

SIZES = {"4 KiB": 4096, "200 kB": 200_000, "1 MB": 1_000_000, "10 MB": 10_000_000}

SCRIPT = """async ([size, curve]) => {
  const { openExport, sealExport } = await import("/static/js/formats/exports.js");
  const { buildSlice } = await import("/static/js/vault/review.js");
  const algorithm = curve === "X25519" ? { name: "X25519" } : { name: "ECDH", namedCurve: "P-256" };
  const pair = await crypto.subtle.generateKey(algorithm, true, ["deriveBits"]);
  const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", pair.publicKey);
  const { d } = await crypto.subtle.exportKey("jwk", pair.privateKey);
  const jwk = y ? { kty, crv, x, y } : { kty, crv, x };
  const line = "Zoe likes Thai food, green tea and long walks. ";
  const values = Object.fromEntries(Array.from({ length: 10 }, (_, n) =>
    [`note_${n}`, line.repeat(Math.ceil(size / 10 / line.length)).slice(0, size / 10)]));
  const members = { kid: "connector-1", iss: location.origin, sub: "usr_a", aud: "app_a", request_id: "req_a",
    scope: "attr.lifestyle.food.*", revision: 1, request_digest: "A".repeat(43) };
  const segment = { domain: "lifestyle", segment_id: "food", content_revision: 1, values };
  const approved = Object.keys(values).map((name) => `lifestyle.food.${name}`);

  const timed = async (work) => {
    let last = performance.now();
    let standstill = 0;
    const beat = new MessageChannel();
    let going = true;
    beat.port1.onmessage = () => {
      const now = performance.now();
      standstill = Math.max(standstill, now - last);
      last = now;
      if (going) setTimeout(() => beat.port2.postMessage(0), 0);
    };
    beat.port2.postMessage(0);
    await new Promise((done) => setTimeout(done, 30));
    standstill = 0;
    const start = performance.now();
    const result = await work();
    const total = performance.now() - start;
    await new Promise((done) => setTimeout(done, 30));
    going = false;
    return [total, standstill, result];
  };
  const seal = async () => {
    const jwe = await sealExport(buildSlice(members.scope, approved, [segment]), members, jwk);
    return [jwe, JSON.stringify({ jwe })];
  };
  const [sealing, standstill, [jwe, body]] = await timed(seal);
  const [opening, openStandstill] = await timed(() => openExport(jwe, { ...jwk, d }, members));
  return { sealing, standstill, opening, openStandstill, bytes: body.length };
}"""


def measure(tab: Tab, size: int, curve: str, rounds: int) -> dict[str, float]:
    results: list[dict[str, Any]] = [tab.run(SCRIPT, [size, curve]) for _ in range(rounds)]
    return {name: median(result[name] for result in results) for name in results[0]}


def main() -> int:
    rounds = parse_options("sealing", rounds=5).rounds
    executable = find_chromium() or sys.exit("no Chromium found: set CHROMIUM to its path")
    columns = (f"{'seal ms':>9} {'standstill':>11}", f"{'open ms':>9} {'standstill':>11} {'bytes':>12}")
    print(f"{'export':>7} {'curve':>7}", *columns)
    with Driver(executable) as driver:
        tab = driver.new_tab(driver.new_context())
        tab.run(SCRIPT, [4096, "X25519"])
        for curve in ("X25519", "P-256"):
            for name, size in SIZES.items():
                found = measure(tab, size, curve, rounds)
                print(
                    f"{name:>7} {curve:>7} {found['sealing']:>9.1f} {found['standstill']:>11.1f} "
                    f"{found['opening']:>9.1f} {found['openStandstill']:>11.1f} {found['bytes']:>12.0f}"
                )
    return 0
