// @ts-check
// A connector key that its app registered: the public log has to say so, a day before it counts.

import { readEntry } from "../formats/entries.js";
import { Refused } from "../formats/errors.js";
import { Fails, isDatedBack, whichAreProved } from "../log/reading.js";

const MATURE_MS = 24 * 3600 * 1000;
const SECOND_MS = 1000; // to which an entry's time is cut

/**
 * That the app registered the key of this request over 24 hours ago, by the log as this browser and the vault know it.
 * @param {import("./types.js").RequestData} data
 * @throws {Refused} reason request_changed
 */
export async function checkRegistered(data) {
  try {
    await check(data);
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Fails)) throw error;
    throw new Refused(`the registration of the key is not proved: ${error.message}`, "vouching", "request_changed");
  }
}

/** @param {import("./types.js").RequestData} data */
async function check({ request, vouching }) {
  const entry = readEntry(vouching.entry);
  const { app_id, thumbprint } = entry.facts ?? {};
  if (entry.kind !== "connector_key_registered" || app_id !== request.app_id || thumbprint !== request.connector_thumbprint) {
    throw new Refused("the entry is of another key");
  }
  if (!(Date.now() - Date.parse(entry.at) >= MATURE_MS - SECOND_MS)) throw new Refused("it was registered less than a day ago");
  const [index = null] = await whichAreProved([entry]);
  if (index === null) throw new Refused("the log does not have it");
  if (await isDatedBack(entry, index)) throw new Refused("it came into the log later than it says");
}
