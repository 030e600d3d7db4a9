// @ts-check
// A page that waits for something looks at the server again and again.

/**
 * Looks after each pause, while somebody sees the page. What it shows stays true where a look fails: the next comes
 * later then.
 * @param {() => Promise<unknown>} look the last one answers false
 * @param {{every: number, afterTrouble: number}} pauses in milliseconds
 */
export async function keepLooking(look, { every, afterTrouble }) {
  for (let pause = every, goesOn = true; goesOn; ) {
    await new Promise((done) => setTimeout(done, pause));
    pause = every;
    try {
      if (!document.hidden) goesOn = (await look()) !== false;
    } catch {
      pause = afterTrouble;
    }
  }
}
