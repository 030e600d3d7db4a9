// @ts-check
// Django's admin scripts build markup from strings. Under this policy they may, as long as the markup is inert: no
// script, no handler, no javascript: address, nothing that loads or embeds. A script or a script's address never passes.
// This is a plain script rather than a module: it has to run before the scripts that follow it in the page.

(() => {
  const ACTIVE = [
    /<\s*\/?\s*(?:script|iframe|frame|object|embed|base|meta|link|style|svg|math|template|portal)\b/i,
    /[\s"'/]on[a-z]+\s*=/i,
    /(?:java|vb)script\s*:/i,
    /\b(?:srcdoc|action|formaction)\s*=/i,
    /\sstyle\s*=/i,
  ];

  /** @param {string} markup @returns {string} */
  function inert(markup) {
    // An entity or a control character could spell what the patterns look for without matching them.
    const plain = markup.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "");
    const disguised = /&(?:#|colon|tab|newline)/i.test(plain);
    if (disguised || ACTIVE.some((pattern) => pattern.test(plain))) {
      throw new TypeError("This markup is not inert, so it does not enter the page.");
    }
    return markup;
  }

  /** @type {any} */ (globalThis).trustedTypes?.createPolicy("default", { createHTML: inert });
})();
