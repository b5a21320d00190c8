// One incident, whole: what, since when, how sure, why, what else it could be, who is hit, what came first.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { elapsed, moment, nameOf } from "./parts.js";
import { duration } from "./time.js";
import { arrows, causeName, causeText, chains, count, evidenceText, list, odds, sureness } from "./words.js";

/** Names and events shown before a reader opens the incident itself. */
const CHAINS_SHOWN = 24;
const EVENTS_SHOWN = 8;

/**
 * `scene` holds the clock, the names on the map, the overview's rows and the diagnosis if it was read.
 * `whole` shows everything the answer holds.
 */
export function incidentView(incident, scene, { whole = false } = {}) {
  const over = incident.state === "resolved";
  const id = `incident-${incident.id}`;
  return h(
    "section",
    { class: over ? "incident past" : "incident", "data-key": id, "aria-labelledby": id },
    band(incident, scene, id, over, whole),
    h("div", { class: "incident-body" }, facts(incident, scene, whole), events(incident, scene, whole)),
  );
}

function band(incident, scene, id, over, whole) {
  const words = h("bdi", {}, arrows(incident.title));
  const title = whole ? words : h("a", { href: `#/incident/${encodeURIComponent(incident.id)}` }, words);
  // An entry point that nobody sees is no cause: what is wrong with it, if anything, is not known.
  const own = incident.kind === "observer";
  const unseen = incident.kind === "unseen" || own;
  const kind = over ? [icon("ended"), "Resolved incident"] : own ? [icon("unknown"), "The aggregator itself"] : unseen ? [icon("unknown"), "Not seen"] : [icon("cause"), "Root cause"];
  return h(
    "header",
    { class: "cause-band" },
    h("p", { class: "kind" }, kind),
    h(whole ? "h1" : "h2", { id, tabindex: "-1" }, title),
    h("p", {}, about(incident, scene).join(" · ")),
    h("p", { class: "when" }, h("strong", {}, over ? lasted(incident, scene) : since(incident, scene)), !unseen && h("span", {}, sureness(incident.confidence))),
  );
}

function since(incident, scene) {
  if (!incident.began_at) return "since an unknown time";
  return ["since ", moment(scene.clock, incident.began_at, { zone: true }), " (", elapsed(scene.clock, incident.began_at), ")"];
}

function lasted(incident, scene) {
  const end = incident.resolved_at ? [" to ", moment(scene.clock, incident.resolved_at, { zone: true })] : [];
  return [moment(scene.clock, incident.began_at), end, ` (${duration(incident.duration_ms ?? 0)})`];
}

/** What is known about the thing that failed, in a few words. */
function about(incident, scene) {
  const row = scene.rows.get(causeName(incident.cause));
  const calls = typeof row?.callers === "number" && row.callers > 0 ? `${row.failing_callers ?? 0} of ${count(row.callers, "caller")} fail` : undefined;
  const owner = incident.owner ?? row?.owner;
  return [
    causeName(incident.cause) ? (row?.kind ?? (row?.instances ? "service" : undefined)) : causeText(incident.cause),
    incident.cause_state === "degraded" && "degraded, not down",
    incident.cause_state === "intermittent" && "now and then",
    owner ? `owner ${owner}` : "no owner declared",
    calls,
    incident.pages === false && "pages nobody",
  ].filter(Boolean);
}

function facts(incident, scene, whole) {
  const cause = list(scene.diagnosis?.root_causes).find((candidate) => candidate.id === incident.cause);
  const against = list(cause?.against);
  const earlier = list(incident.cause_history).filter((step) => step.until);
  const hit = list(incident.impacted);
  const impacted = hit.filter((impact) => impact.effect !== "degraded");
  const degraded = hit.filter((impact) => impact.effect === "degraded");
  return h(
    "dl",
    { class: "facts" },
    incident.unconfirmed && fact("Unconfirmed", h("strong", {}, incident.unconfirmed)),
    fact("Why", sentences(list(incident.reasons), "the answer gives no reason")),
    cause && fact("Against", against.length > 0 ? sentences([...against.map(evidenceText), ...more(cause.against_count - against.length)]) : "nothing"),
    !["unseen", "observer"].includes(incident.kind) && fact("Next best", runnerUp(incident)),
    earlier.length > 0 && fact("Before", sentences(earlier.map((step) => ["suspected ", causeText(step.cause), " until ", moment(scene.clock, step.until)]))),
    fact(`Impacted (${impacted.length})`, impacted.length > 0 ? ways(impacted, "impacted", scene, whole) : "nobody over hard dependencies"),
    degraded.length > 0 && fact(`Degraded (${degraded.length})`, ways(degraded, "degraded", scene, whole)),
    whole && list(incident.evidence).length > 0 && fact(`Evidence (${incident.evidence.length})`, sentences(incident.evidence.map(evidenceText))),
  );
}

function more(left) {
  return left > 0 ? [`and ${left} more that the answer leaves out`] : [];
}

/** What else it could be, and how likely that is: "host h3 (1 in 40), then cart". */
function runnerUp(incident) {
  const [first, ...others] = list(incident.alternatives).map(causeText);
  const rest = others.length > 0 ? `, then ${others.join(", ")}` : "";
  return `${first ?? "nothing but chance"} (${odds(incident.confidence)})${rest}`;
}

function fact(term, ...content) {
  return h("div", { "data-key": term.replace(/ .*/, "") }, h("dt", {}, term), h("dd", {}, content));
}

function sentences(texts, none) {
  return texts.length > 0 ? h("ul", {}, texts.map((text) => h("li", {}, text))) : none;
}

function ways(impacts, effect, scene, whole) {
  const all = chains(impacts);
  const shown = whole ? all : all.slice(0, CHAINS_SHOWN);
  const rest = all.length - shown.length;
  return h(
    "ul",
    { class: "chains" },
    shown.map((way) =>
      h("li", { class: `chain chain-${effect}` }, way.map((name, at) => [at > 0 && h("span", { class: "arrow" }, "→"), nameOf(scene.names, name)]))),
    rest > 0 && h("li", {}, `and ${rest} more`),
  );
}

function events(incident, scene, whole) {
  const all = list(incident.timeline);
  const shown = whole ? all : all.slice(0, EVENTS_SHOWN);
  const ended = incident.resolved_at && whole;
  return h(
    "div",
    { class: "first" },
    h("h3", {}, "What failed first"),
    shown.length > 0
      ? h("ol", { class: "events" }, shown.map((event) =>
        h("li", {}, moment(scene.clock, event.at), h("span", {}, h("bdi", { class: "subject" }, event.subject), " ", h("span", { class: "quiet" }, event.text)))),
      ended && h("li", {}, moment(scene.clock, incident.resolved_at), h("span", {}, "resolved")))
      : h("p", { class: "quiet" }, "No event was recorded yet."),
    all.length > shown.length && h("p", { class: "quiet" }, `and ${count(all.length - shown.length, "later event")}`),
  );
}
