// @ts-check
/* Runs on every page, before the first paint: the theme is set while the head is read, the rest once the page is there.
   A classic script on purpose: a module would run after the first paint, and a dark page would flash white. */
(() => {
  "use strict";
  const root = document.documentElement;
  const THEME = "theme";
  // the page's language as it is written where the browser is: 27 Nov, not Nov 27, for a page in English in Britain
  root.dataset.region = navigator.languages.find((one) => one.split("-")[0] === root.lang.split("-")[0]) ?? root.lang;

  /** @param {string} selector @param {ParentNode} [within] @returns {HTMLElement[]} */
  const all = (selector, within = document) => [.../** @type {NodeListOf<HTMLElement>} */ (within.querySelectorAll(selector))];

  function storedTheme() {
    try {
      const value = localStorage.getItem(THEME);
      return value === "light" || value === "dark" ? value : "system";
    } catch {
      return "system"; // storage can be refused; the system's theme then stands
    }
  }

  /** @param {string} theme */
  function applyTheme(theme) {
    if (theme === "system") root.removeAttribute("data-theme");
    else root.dataset.theme = theme;
  }

  // and its zone, so that the server, too, begins a day of the history where the person is
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  if (timeZone) document.cookie = `${location.protocol === "https:" ? "__Host-zone" : "zone"}=${timeZone}; path=/; max-age=31536000; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`;

  // the operator's accent: these colours and no others, so that it hides nothing; a style sheet of theirs could
  const accent = /** @type {HTMLMetaElement | null} */ (document.querySelector("meta[name=accent]"))?.content ?? "";
  for (const [, name, light, dark] of accent.matchAll(/\b(on-stay|stay|stay-soft|stay-ink|stay-line|focus) (#[0-9a-f]{6}) (#[0-9a-f]{6})/g)) {
    root.style.setProperty(`--${name}`, `light-dark(${light}, ${dark})`);
  }

  root.dataset.script = "on";
  applyTheme(storedTheme());

  // A vault that this session unlocked: no form to unlock it stands for a moment where its values will. unlock.js ends this.
  try {
    if (localStorage.getItem("vault-open") === root.dataset.sessionTag) root.dataset.vault = "opening";
  } catch { /* storage can be refused: the form then stands until the scripts are there */ }
  addEventListener("error", ({ target }) => { if (target instanceof HTMLScriptElement) delete root.dataset.vault; }, true);

  function wireTheme() {
    const buttons = all("[data-set-theme]");
    const show = (/** @type {string} */ theme) => buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.setTheme === theme)));
    show(storedTheme());
    buttons.forEach((button) => button.addEventListener("click", () => {
      const theme = button.dataset.setTheme ?? "system";
      try {
        if (theme === "system") localStorage.removeItem(THEME);
        else localStorage.setItem(THEME, theme);
      } catch { /* kept for this page only */ }
      applyTheme(theme);
      show(theme);
    }));
    addEventListener("storage", (event) => {
      if (event.key !== THEME) return;
      applyTheme(storedTheme());
      show(storedTheme());
    });
  }

  function wireMenus() {
    const open = () => /** @type {HTMLDetailsElement[]} */ (all("details.menu[open]"));
    const closeOthers = (/** @type {Event} */ event) => {
      const place = /** @type {Node | null} */ (event.target);
      open().filter((menu) => !menu.contains(place)).forEach((menu) => { menu.open = false; });
    };
    document.addEventListener("click", closeOthers);
    document.addEventListener("focusin", closeOthers);
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      open().forEach((menu) => {
        menu.open = false;
        menu.querySelector("summary")?.focus();
      });
    });
  }

  /** From the longest down, in seconds. @type {[Intl.RelativeTimeFormatUnit, number][]} */
  const UNITS = [["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];

  /** @param {Date} date @param {string | undefined} language */
  function relative(date, language) {
    const seconds = Math.round((date.getTime() - Date.now()) / 1000);
    const format = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
    const unit = UNITS.find(([, size]) => Math.abs(seconds) >= size);
    return unit ? format.format(Math.trunc(seconds / unit[1]), unit[0]) : (document.body.dataset.justNow ?? format.format(0, "second"));
  }

  /** A day that is to come; with its time within two days, with its year in another one. @param {Date} date @param {string | undefined} language */
  function day(date, language) {
    const isSoon = Math.abs(date.getTime() - Date.now()) < 172800000;
    const isThisYear = date.getFullYear() === new Date().getFullYear();
    return new Intl.DateTimeFormat(language, {
      day: "numeric", month: "short", ...(isThisYear ? {} : { year: "numeric" }), ...(isSoon ? { hour: "2-digit", minute: "2-digit" } : {}),
    }).format(date);
  }

  function showTimes() {
    const language = root.dataset.region || root.lang || undefined;
    const exact = new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "long" });
    const local = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
    const clock = new Intl.DateTimeFormat(language, { timeStyle: "short" });
    const dated = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" }); // of a date without a time
    const shown = /** @type {HTMLTimeElement[]} */ (all("time:is([data-relative], [data-local], [data-clock], [data-day], [data-date])"));
    shown.forEach((element) => {
      const date = new Date(element.dateTime);
      if (Number.isNaN(date.getTime())) return;
      const { dataset } = element;
      if (!("date" in dataset)) element.title = exact.format(date);
      if ("relative" in dataset) element.textContent = relative(date, language);
      else if ("day" in dataset) element.textContent = day(date, language);
      else element.textContent = ("clock" in dataset ? clock : "date" in dataset ? dated : local).format(date);
    });
  }

  /** @param {string} text */
  async function copyText(text) {
    if (navigator.clipboard && isSecureContext) {
      await navigator.clipboard.writeText(text);
      return;
    }
    const area = document.createElement("textarea"); // plain http on a LAN has no clipboard API
    area.value = text;
    area.className = "visually-hidden";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("copy refused");
  }

  /** @param {HTMLElement} button */
  async function copy(button) {
    const source = button.dataset.copyFrom ? document.querySelector(button.dataset.copyFrom) : null;
    const text = (source ? written(source).trim() : button.dataset.copy) ?? "";
    const label = button.querySelector("[data-label]") ?? button;
    button.dataset.before ??= label.textContent ?? "";
    try {
      await copyText(text);
      label.textContent = button.dataset.copied || button.dataset.before;
      toast(button.dataset.copied || button.dataset.before, "success");
    } catch {
      toast(document.body.dataset.copyFailed, "warn");
      return;
    }
    clearTimeout(Number(button.dataset.timer));
    button.dataset.timer = String(setTimeout(() => { label.textContent = button.dataset.before ?? ""; }, 2500));
  }

  /** What is typed into a field, else what stands in it. @param {Element} element @returns {string} */
  function written(element) {
    const typed = "value" in element ? element.value : null;
    return String(typed ?? element.textContent);
  }

  /** @param {string | undefined} text @param {string} [tone] */
  function toast(text, tone = "info") {
    const place = document.getElementById("toasts");
    if (!place || !text) return;
    const item = document.createElement("div");
    item.className = `toast notice notice-${tone}`;
    item.textContent = text;
    place.append(item);
    setTimeout(() => item.remove(), 6000);
  }

  /** @param {HTMLElement} button */
  function reveal(button) {
    const input = /** @type {HTMLInputElement} */ (document.getElementById(button.dataset.reveal ?? ""));
    const shown = input.type === "text";
    input.type = shown ? "password" : "text";
    button.setAttribute("aria-pressed", String(!shown));
    const label = button.querySelector("[data-label]") ?? button;
    label.textContent = (shown ? button.dataset.show : button.dataset.hide) ?? "";
  }

  /** @param {string} selector @param {ParentNode} [within] */
  const buttonsIn = (selector, within) => /** @type {HTMLButtonElement[]} */ (all(selector, within));

  function wireClicks() {
    document.addEventListener("click", (event) => {
      const place = event.target instanceof Element ? event.target : null;
      const button = /** @type {HTMLElement | null | undefined} */ (place?.closest("[data-copy], [data-copy-from], [data-dialog], [data-close], [data-reveal]"));
      if (!button) return;
      if ("copy" in button.dataset || "copyFrom" in button.dataset) copy(button);
      else if ("dialog" in button.dataset) /** @type {HTMLDialogElement | null} */ (document.getElementById(button.dataset.dialog ?? ""))?.showModal();
      else if ("reveal" in button.dataset) reveal(button);
      else {
        event.preventDefault();
        button.closest("dialog")?.close();
      }
    });
    document.addEventListener("submit", (event) => {
      const form = /** @type {HTMLFormElement} */ (event.target);
      if (!("once" in form.dataset) || event.defaultPrevented) return;
      // After this turn, so that the pressed button's own name and value still travel with the form.
      setTimeout(() => buttonsIn("button:not([type=button])", form).forEach((b) => { b.disabled = true; }));
    });
    addEventListener("pageshow", (event) => {
      if (event.persisted) buttonsIn("form[data-once] button:disabled").forEach((b) => { b.disabled = false; });
    });
    addEventListener("toast", (event) => {
      const { text, tone } = /** @type {CustomEvent<{text: string, tone: string}>} */ (event).detail;
      toast(text, tone);
    });
  }

  /** A row of links that is wider than a phone begins with the page that is open. */
  function showCurrent() {
    const current = /** @type {HTMLElement | null} */ (document.querySelector(":is(.portal-nav, .docs-contents) [aria-current]"));
    const row = current?.closest("ul");
    if (current && row) row.scrollLeft = current.offsetLeft - row.offsetLeft - (row.clientWidth - current.offsetWidth) / 2;
  }

  /** A form that comes back refused is gone on with where it is wrong, which may be screens below. */
  const goToRefused = () => all("main [aria-invalid=true]")[0]?.focus();

  // while the page is read, too: what is painted by then folds no line anew when its time is written
  const arriving = new MutationObserver(() => {
    showTimes();
    arriving.takeRecords(); // of its own writing
  });
  arriving.observe(root, { childList: true, subtree: true });

  function start() {
    arriving.disconnect();
    showCurrent();
    goToRefused();
    wireTheme();
    wireMenus();
    wireClicks();
    showTimes();
    document.addEventListener("shell:refresh", showTimes);
    setInterval(showTimes, 30000);
  }

  // as soon as the page is read: what comes later waits for the modules, under a finger that is there before them
  if (document.readyState === "loading") document.addEventListener("readystatechange", start, { once: true });
  else start();
})();
