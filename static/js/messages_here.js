// @ts-check
// What this browser shows of what its person wants to hear of (Web Push): the service worker and its subscription.

import { call } from "./vault/api.js";

const WORKER = "/service-worker.js";

export const isPossible = () => "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

/** The one script address that this site makes of a text: where trusted types are on, the policy says so. */
function workerAddress() {
  const policies = /** @type {any} */ (globalThis).trustedTypes;
  const policy = policies?.createPolicy("service-worker", { createScriptURL: () => WORKER });
  return policy ? policy.createScriptURL("") : WORKER;
}

/** @type {Promise<ServiceWorkerRegistration> | undefined} */
let registered;

/** @returns {Promise<ServiceWorkerRegistration>} */
export const register = () => (registered ??= navigator.serviceWorker.register(workerAddress(), { scope: "/", updateViaCache: "none" }));

/** @returns {Promise<PushSubscription | null>} */
export async function current() {
  if (!isPossible()) return null;
  const found = await navigator.serviceWorker.getRegistration("/");
  return (await found?.pushManager.getSubscription()) ?? null;
}

/** @param {BufferSource} octets */
const unpadded = (octets) =>
  btoa(String.fromCharCode(...new Uint8Array(/** @type {ArrayBuffer} */ (octets)))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

/** Whether it was made for this key of the service. @param {PushSubscription} subscription @param {string} applicationKey */
export const isFor = (subscription, applicationKey) => {
  const key = subscription.options.applicationServerKey;
  return key !== null && unpadded(key) === applicationKey;
};

/** Asks the person, the browser and the service, in this order. @param {string} applicationKey */
export async function subscribe(applicationKey) {
  if ((await Notification.requestPermission()) !== "granted") return false;
  await register();
  const { pushManager } = await navigator.serviceWorker.ready;
  const older = await pushManager.getSubscription();
  if (older && !isFor(older, applicationKey)) await older.unsubscribe();
  const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: applicationKey });
  await tell(made);
  return true;
}

/** @param {PushSubscription} made */
export async function tell(made) {
  const [key, auth] = [made.getKey("p256dh"), made.getKey("auth")];
  if (!key || !auth) throw new Error("the subscription has no keys");
  await call("PUT", "/account/push", { endpoint: made.endpoint, public_key: unpadded(key), auth: unpadded(auth) });
}

/** This browser shows nothing any more, and the service forgets it. */
export async function unsubscribe() {
  const found = await current();
  if (found) await Promise.all([found.unsubscribe(), call("DELETE", "/account/push", { endpoint: found.endpoint })]);
}
