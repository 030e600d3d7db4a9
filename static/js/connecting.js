// @ts-check
// The page on which somebody connects with an app: this browser remembers that they were asked, so that the sheet of the
// request that rides along need not ask whether they gave it a sharing ID.

import { pageOwner } from "./vault/keyring.js";
import { rememberConnection } from "./vault/vault.js";

const connectionId = document.querySelector("[data-connection]")?.getAttribute("data-connection");
const owner = pageOwner();
if (connectionId && owner) void rememberConnection(owner.userId, connectionId);
