// The public API; its types are in index.d.ts.
export { KeyPins, OwnerKeyChanged } from "./approvals.js";
export { Client } from "./client.js";
export { BadAnswer, Problem, Unreachable, WaitTimeout } from "./errors.js";
export { BridgeError, CannotOpen, KeyRefused, Refused, UnknownKey } from "./formats/errors.js";
export { openExport } from "./formats/exports.js";
export { checkConnectorKey, checkPrivateKey, generateConnectorKey, publicHalf, thumbprint } from "./formats/keys.js";
export { LogReader, verifyReceiptProof } from "./logs.js";
export { LogEpochChanged, LogKeyChanged, NothingPublished } from "./memories.js";
export { openEnvelope } from "./opening.js";
export { verifyReceipt } from "./formats/receipts.js";
export { SandboxPerson } from "./sandbox.js";
export { SYNTHETIC_PROFILE } from "./synthetic.js";
export { verifyWebhook } from "./webhooks.js";
