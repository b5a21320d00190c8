// What time it is for a reader: ages that go on counting, durations and local clock times as text.

let passed = 0;
let steady = performance.now();
let wall = Date.now();

/**
 * Milliseconds since the page was opened. The steady clock stands still while some machines sleep and
 * the wall clock may be set back, so the larger step counts: an age may look too old, never too young.
 */
export function pageNow() {
  const nextSteady = performance.now();
  const nextWall = Date.now();
  passed += Math.max(0, nextSteady - steady, nextWall - wall);
  steady = nextSteady;
  wall = nextWall;
  return passed;
}

/** The clock of one answer: the server's time when it answered, and how long ago that was. */
export function clockOf(answer, now) {
  const generated = Date.parse(answer.data.generated_at ?? "");
  return { generated, received: answer.received, now };
}

/** Milliseconds of age now, for an age that was taken when the answer was made. */
export function ageNow(clock, ageMs) {
  return clock.now - clock.received + ageMs;
}

/** Milliseconds from a server time until now, by the server's clock; undefined if either is unknown. */
export function sinceThen(clock, text) {
  const then = Date.parse(text ?? "");
  if (Number.isNaN(then) || Number.isNaN(clock.generated)) return undefined;
  return Math.max(0, clock.generated - then) + clock.now - clock.received;
}

/** "<1 s", "40 s", "4 min", "5 h 12 min", "3 d 4 h": rounded down, one or two units. */
export function duration(ms) {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 1) return "<1 s";
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return two(hours, "h", minutes % 60, "min");
  return two(Math.floor(hours / 24), "d", hours % 24, "h");
}

function two(large, largeUnit, small, smallUnit) {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const ZONE = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" });

/** The reader's local clock time, with the day when it is not the day of `reference`. */
export function localTime(text, reference) {
  const then = new Date(text ?? "");
  if (Number.isNaN(then.getTime())) return "unknown time";
  const clock = CLOCK.format(then);
  const sameDay = Number.isNaN(reference) || new Date(reference).toDateString() === then.toDateString();
  return sameDay ? clock : `${DAY.format(then)} ${clock}`;
}

/** The label of the reader's zone at that moment: "CET", "GMT+2", "UTC". */
export function zoneLabel(text) {
  const then = new Date(text ?? "");
  const moment = Number.isNaN(then.getTime()) ? new Date() : then;
  return ZONE.formatToParts(moment).find((part) => part.type === "timeZoneName")?.value ?? "local time";
}
