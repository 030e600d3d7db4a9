// @ts-check
// All that pages use, in one place: make a vault, unlock and lock it, read and write what is in it, decide a request.

export { replaceRoot } from "./approvals.js";
export { ApiError, getKeys, giveUpRotation, isInterrupted, removeWrapper, restoreWrapper } from "./api.js";
export { changes, isUnlocked, Locked, pageOwner, watch } from "./keyring.js";
export { passkeysSupported, PasskeyError } from "./passkey.js";
export { Refused } from "../formats/errors.js";
export { hideScope, readNotes, rememberConnection, rememberInvitation, showScope } from "./notes.js";
export { takeOlderState, whatWentBack } from "./older_state.js";
export { openAll } from "./reading.js";
export { finishRotation, nextKey, Paused, prepareRotation } from "./rotation.js";
export { approve, deny, isInvited, isNewConnector, isRequested, loadRequest, memoryOf, notesWithoutApp, preview, resumeGrant, stopSharing } from "./review.js";
export { strength } from "./strength.js";
export { lock, unlock } from "./unlocking.js";
export { createVault, prepareWays, tryRecoveryCode } from "./ways.js";
export { checkPassphrase, MIN_PASSPHRASE } from "../formats/wrappers.js";
export { Conflict, writeAll, writeAttributes } from "./writing.js";
