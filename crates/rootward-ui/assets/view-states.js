// The states without content: waiting, nothing to watch, no answer, an answer that cannot be shown.

import { h } from "./dom.js";
import { FIRST_CONFIGURATION } from "./first-configuration.js";
import { icon } from "./icons.js";
import { age, counting } from "./parts.js";
import { duration } from "./time.js";
import { list } from "./words.js";

/** Before the first answer: since when it waits, and why if something came back. */
export function waitingView(started, failure, now) {
  const told = failure ? `The server has not given an answer so far: ${failureText(failure)}. Trying again every 2 s.` : "Asking the server what it has seen.";
  return [
    h("div", { class: "sentence", "data-key": "waiting" }, h("h1", { tabindex: "-1" }, icon("starting"), h("span", {}, "Waiting for the first answer")),
      h("p", {}, told), h("p", { class: "quiet" }, "Waiting for ", counting(now - started, now), ".")),
    h("div", { class: "bones", "data-key": "bones", "aria-hidden": "true" }, h("div"), h("div"), h("div")),
  ];
}

/** What a failed question is called in a sentence. */
export function failureText(failure) {
  return failure.kind === "problem" ? `error ${failure.status}, ${failure.message}` : failure.message;
}

/** Nothing to watch: what to do first. */
export function emptyView() {
  return h(
    "div",
    { class: "blank", "data-key": "empty" },
    h("h1", { tabindex: "-1" }, "No services yet"),
    h("p", {}, "Rootward is running and its map is empty. It watches what its configuration names."),
    h(
      "ol",
      {},
      h("li", {}, h("h2", {}, "1. Name a service and what it depends on"),
        h("p", {}, "Save this as ", h("code", {}, "rootward.yaml"), " and put in your own names and address."),
        h("pre", { id: "first-configuration", tabindex: "0" }, FIRST_CONFIGURATION),
        h("p", {}, h("button", { type: "button", "data-action": "copy", "data-source": "first-configuration" }, "Copy"))),
      h("li", {}, h("h2", {}, "2. Check it and start again"),
        h("pre", { id: "first-commands", tabindex: "0" }, "rootward validate rootward.yaml\nrootward serve --config rootward.yaml\n"),
        h("p", {}, h("button", { type: "button", "data-action": "copy", "data-source": "first-commands" }, "Copy"))),
    ),
  );
}

/** The page's own failure: said, never hidden behind old content. */
export function brokenView(message) {
  return [h("div", { class: "blank", "data-key": "broken" }, h("h1", { tabindex: "-1" }, "This page could not show the answer"),
    h("p", {}, `The fault is in the page, not in what it watches: ${message}. The next answer is tried as usual.`),
    h("p", {}, "The same truth is in a terminal: ", h("code", {}, "rootward status"), "."))];
}

/** Milliseconds without a good answer after which a reader is told. */
export const LOST_AFTER_MS = 5_000;
/** A round is late when it is more than this many intervals old, plus some time for slow polls. */
const LATE_INTERVALS = 2;
const LATE_SLACK_MS = 5_000;

/** Whether what is shown is too old to be shown without a word. */
export function isLost(overview, failure, now) {
  return overview !== undefined && failure !== undefined && now - overview.received >= LOST_AFTER_MS;
}

/** The notices above the page: its own age, the server's, and answers it could not get. */
export function noticesView({ overview, failure, partial, clock, now, understood }) {
  if (!overview) return [];
  const notices = [];
  if (isLost(overview, failure, now)) {
    const error = failure.kind === "problem" ? `Rootward answers with ${failureText(failure)}` : `Rootward does not answer (${failureText(failure)})`;
    notices.push(notice("lost", "away", h("strong", {}, "This page is ", counting(now - overview.received, now), " old, trying again. "), `${error}. Below is the last it told.`));
  } else if (late(overview.data.epoch, clock)) {
    const epoch = overview.data.epoch;
    notices.push(notice("late", "away", h("strong", {}, "Rootward itself is late: its last round was ", age(clock, epoch.age_ms), " ago. "),
      `One is expected every ${duration(epoch.interval_ms)}. Below is the last it saw.`));
  }
  if (partial) notices.push(notice("partial", "unknown", `Part of the answer is missing: ${partial}.`));
  if (overview.data.api !== understood) {
    notices.push(notice("version", "unknown", `The server speaks ${overview.data.api ?? "an unnamed version"}, this page ${understood}: load the page again.`));
  }
  return notices;
}

function late(epoch, clock) {
  if (typeof epoch?.age_ms !== "number" || typeof epoch.interval_ms !== "number") return false;
  return epoch.age_ms + clock.now - clock.received > LATE_INTERVALS * epoch.interval_ms + LATE_SLACK_MS;
}

function notice(key, shape, ...content) {
  return h("div", { class: "notice", "data-key": key }, h("p", { class: "notice-text" }, icon(shape), h("span", {}, content)));
}

/** The line in the bar: where, and how fresh the newest round is. */
export function roundView(overview, clock) {
  const { environment, epoch } = overview;
  const told = typeof epoch?.age_ms === "number"
    ? ["last round ", age(clock, epoch.age_ms), " ago, ", epoch.complete ? "complete" : "incomplete", `, ${epoch.answered ?? 0} of ${epoch.polls ?? 0} polls answered`]
    : ["no round has finished yet", epoch?.interval_ms ? `, one every ${duration(epoch.interval_ms)}` : ""];
  return [environment && h("strong", {}, environment), environment && " · ", told].flat().filter(Boolean);
}

/** What is read aloud when it changes: without ages, which change all the time. */
export function spokenText(overview, failure, now) {
  if (!overview) return failure ? "No answer from the server yet." : "";
  if (isLost(overview, failure, now)) return "No answer from the server. This page shows the last it told.";
  const open = list(overview.data.incidents);
  if (open.length > 0) return `${open.length === 1 ? "1 incident" : `${open.length} incidents`}: ${open.map((incident) => incident.title).join("; ")}`;
  return String(overview.data.headline ?? "").replace(/, all seen within .*/, "");
}
