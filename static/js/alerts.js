// @ts-check
// The page of alerts: this browser's messages, and the time zone that it knows.

import { gettext } from "./i18n.js";
import { current, isFor, isPossible, subscribe, tell, unsubscribe } from "./messages_here.js";
import { busy, explain, find, toast } from "./page.js";

const place = find("#this-browser");
const applicationKey = place.dataset.applicationKey ?? "";
const [begin, end] = [find("[data-begin]", place), find("[data-end]", place)];

async function show() {
  const found = await current();
  // a browser that may show nothing any more has none
  const subscribed = found !== null && isFor(found, applicationKey);
  for (const element of place.querySelectorAll("[data-when]")) {
    const when = element.getAttribute("data-when");
    element.toggleAttribute("hidden", when !== (isPossible() ? (subscribed ? "told" : "silent") : "impossible"));
  }
  place.classList.remove("is-looking");
  return subscribed ? found : null;
}

/** @param {HTMLElement} button @param {() => Promise<string>} work */
const wire = (button, work) =>
  button.addEventListener("click", () =>
    void busy(button, async () => {
      try {
        toast(await work(), "info");
      } catch (error) {
        toast(error instanceof DOMException ? gettext("This browser cannot show messages here.") : explain(error), "warn");
      }
      await show();
    }),
  );

wire(begin, async () =>
  (await subscribe(applicationKey))
    ? gettext("This browser shows your messages now.")
    : gettext("The browser does not allow it. You can change that in its settings for this site."),
);
wire(end, async () => {
  await unsubscribe();
  return gettext("This browser shows nothing any more.");
});

const zone = /** @type {HTMLInputElement} */ (find("#id_zone"));
if (!zone.value) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
const subscription = await show();
// the service may have forgotten it, and this session ends it
if (subscription) await tell(subscription).catch(() => undefined);
