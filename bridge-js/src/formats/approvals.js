// @ts-check
// What the receiver of an approval checks: that it is of exactly this export, and that a changed key comes of the known one.

import { requestDigest } from "./canonical.js";
import { Refused } from "./errors.js";
import { checkClaims, checkOwnerKey, numberOf, uncheckedClaims, verified, verifiedByBoth } from "./jws.js";
import { sealedDigest } from "./signing.js";

/** @typedef {import("./jws.js").OwnerKey} OwnerKey */
/** @typedef {{jwe: string, revision: number, approved_attributes: string[], approval: unknown}} Approved as the service hands it out */
/** @typedef {{request_id: string, app_id: string, user_id: string, access_duration: number, request: object}} Request what was asked for */

const WHAT = "the approval";
const STEP = "a step of the key's history";
const MOST_STEPS = 1000;
const LEEWAY = 300; // seconds that two clocks may differ

/**
 * Refused unless this key signed exactly this export of exactly what was asked for.
 * @param {Approved} envelope @param {Request} request @param {string} issuer @param {OwnerKey} key
 */
export async function verifyApproval(envelope, request, issuer, key) {
  const claims = await verified(envelope.approval, "consent-approval+jwt", key, WHAT);
  const [iat, endsAt, duration] = ["iat", "ends_at", "access_duration"].map((name) => numberOf(claims, name, WHAT));
  if (Number(endsAt) <= Date.now() / 1000 - LEEWAY) throw new Refused(`${WHAT} is over`, "ends_at");
  if (Number(duration) > request.access_duration) throw new Refused(`${WHAT}'s access_duration is longer than was asked for`, "access_duration");
  const expected = {
    iss: issuer,
    sub: request.user_id,
    aud: request.app_id,
    iat,
    ends_at: envelope.revision === 1 ? Number(iat) + Number(duration) : endsAt,
    request_id: request.request_id,
    request_digest: requestDigest({ ...request.request }), // made here of what was asked, and not taken over
    revision: envelope.revision,
    access_duration: duration,
    approved_attributes: [...envelope.approved_attributes].sort(),
    export_sha256: await sealedDigest(envelope.jwe),
  };
  checkClaims(claims, expected, WHAT);
}

/**
 * Whether the steps lead from the one key to the other, each signed by both of its keys and numbered in order.
 * @param {any[]} history @param {OwnerKey} start @param {OwnerKey} end @param {Request} request @param {string} issuer
 */
export async function leads(history, start, end, request, issuer) {
  let current = start;
  let seq = 0;
  for (const step of history.slice(0, MOST_STEPS)) {
    const { old: oldKey, new: newKey } = uncheckedClaims(step, STEP);
    const [before, after] = [checkOwnerKey(oldKey, "a step's old key"), checkOwnerKey(newKey, "a step's new key")];
    const claims = await verifiedByBoth(step, "approval-key-rotation+jwt", [before, after], STEP);
    const found = numberOf(claims, "seq", STEP);
    const { old, new: next, ...rest } = claims; // the two keys are those that were checked
    const names = { iss: issuer, sub: request.user_id, aud: request.app_id, seq: seq ? seq + 1 : found };
    checkClaims(rest, { ...names, iat: numberOf(claims, "iat", STEP) }, STEP);
    seq = found;
    if (before.x === current.x) current = after;
  }
  return current.x === end.x;
}
