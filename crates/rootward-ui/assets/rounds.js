// The rhythm of asking: one round at a time, often while someone looks, seldom while nobody does.

/** Milliseconds from the end of one round to the start of the next. */
export const VISIBLE_PAUSE_MS = 2_000;
export const HIDDEN_PAUSE_MS = 30_000;
/** The deadline of a whole round. */
export const ROUND_DEADLINE_MS = 5_000;

/** Runs `round(signal)` again and again; `now()` asks for one at once, after a running one. */
export function startRounds(round) {
  let timer;
  let running = false;
  let wanted = false;

  async function run() {
    clearTimeout(timer);
    if (running) {
      wanted = true;
      return;
    }
    running = true;
    const deadline = new AbortController();
    const alarm = setTimeout(() => deadline.abort(), ROUND_DEADLINE_MS);
    try {
      await round(deadline.signal);
    } finally {
      clearTimeout(alarm);
      running = false;
      const pause = document.hidden ? HIDDEN_PAUSE_MS : VISIBLE_PAUSE_MS;
      timer = setTimeout(run, wanted ? 0 : pause);
      wanted = false;
    }
  }

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) run();
  });
  run();
  return { now: run };
}
