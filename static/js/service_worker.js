// @ts-check
/* The service worker: a page for when there is no connection, and what the browser shows of messages. It keeps that one
   page and its styles; of a person's pages and values it keeps nothing. Served at /service-worker.js. */
(() => {
  "use strict";
  const worker = /** @type {any} */ (self); // the types of a worker and of a page exclude each other
  const KEPT = "offline", OFFLINE = "/offline/";

  /** Without cookies, so that it is nobody's. */
  async function keepOffline() {
    const kept = await caches.open(KEPT);
    const answer = await fetch(OFFLINE, { credentials: "omit", cache: "no-store" });
    if (!answer.ok) throw new Error(`the offline page was answered ${answer.status}`);
    const page = await answer.clone().text();
    const parts = [...page.matchAll(/<(?:link|script|img)[^>]*(?:href|src)="(\/static\/[^"]+)"/g)].map((found) => found[1] ?? "");
    await Promise.all((await kept.keys()).map((old) => kept.delete(old)));
    await kept.addAll([...new Set(parts)]);
    await kept.put(OFFLINE, answer);
  }

  /** @param {Request} request */
  async function orOffline(request) {
    try {
      return await fetch(request);
    } catch (error) {
      const kept = await caches.match(OFFLINE);
      if (kept) return kept;
      throw error;
    }
  }

  /** @param {Request} request */
  const keptPart = async (request) => (await caches.match(request)) ?? fetch(request);

  /** @param {any} data */
  async function show(data) {
    const { title, text, path, tag } = data.json();
    await worker.registration.showNotification(title, { body: text, tag, data: { path } });
  }

  /** Only ever a page of this service. @param {unknown} path */
  function pageAt(path) {
    const url = new URL(String(path), worker.location.origin);
    return url.origin === worker.location.origin ? url.href : worker.location.origin;
  }

  worker.addEventListener("install", (/** @type {any} */ event) => {
    event.waitUntil(keepOffline().then(() => worker.skipWaiting()));
  });
  worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));
  worker.addEventListener("fetch", (/** @type {any} */ event) => {
    const { request } = event;
    if (request.method !== "GET") return;
    if (request.mode === "navigate") event.respondWith(orOffline(request));
    else if (!navigator.onLine && /^\/static\//.test(new URL(request.url).pathname)) event.respondWith(keptPart(request));
  });
  worker.addEventListener("push", (/** @type {any} */ event) => {
    if (event.data) event.waitUntil(show(event.data));
  });
  worker.addEventListener("notificationclick", (/** @type {any} */ event) => {
    event.notification.close();
    event.waitUntil(worker.clients.openWindow(pageAt(event.notification.data?.path ?? "/")));
  });
})();
