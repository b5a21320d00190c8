// What is neither an incident nor a row: suspected, unexplained and unknown things, drift, cycles, the past.

import { h } from "./dom.js";
import { age, elapsed, mark, moment, nameOf, section, table } from "./parts.js";
import { duration, zoneLabel } from "./time.js";
import { arrows, count, evidenceText, list, plain, sureness } from "./words.js";

/** Lines of one kind that are shown; the rest is counted. */
const LINES_SHOWN = 20;

/** Causes that are not named yet because something is still awaited. */
export function suspectedView(diagnosis, scene) {
  const suspected = list(diagnosis?.suspected);
  if (suspected.length === 0) return null;
  return section("suspected", "Suspected", suspected.length, h("p", {}, "Not named as a cause yet, and nobody is paged for it."), lines(suspected, (cause) => [
    h("p", { class: "what" }, mark("suspected"), h("strong", {}, arrows(cause.summary))),
    h("p", { class: "quiet" }, sureness(cause.confidence), since(cause.since, scene)),
    cause.held && h("p", {}, `Held back: ${cause.held}`),
    sentences(cause.reasons),
  ]));
}

function since(text, scene) {
  const ago = elapsed(scene.clock, text);
  return ago && [", since ", moment(scene.clock, text), " (", ago, ")"];
}

function sentences(reasons) {
  return list(reasons).length > 0 && h("ul", { class: "quiet" }, list(reasons).map((reason) => h("li", {}, reason)));
}

/** Instances, or failing that services, that nothing recent is known about. */
export function unknownView(overview, diagnosis, scene) {
  const instances = list(diagnosis?.unknown);
  if (instances.length > 0) {
    const each = (one) => line(mark("unknown"), nameOf(scene.names, one.instance), one.reason, one.last_known, scene, one.age_ms);
    return section("unknown", "Unknown", instances.length, h("p", {}, "Neither up nor down: there is no fresh evidence."), lines(instances, each));
  }
  const services = list(overview.services).filter((row) => row.status === "unknown");
  if (services.length === 0) return null;
  return section("unknown", "Unknown", services.length, h("p", {}, "Neither up nor down: there is no fresh evidence."), lines(services, (row) =>
    line(mark("unknown"), nameOf(scene.names, row.name), row.reason, row.last_known, scene, row.age_ms)));
}

function line(sign, name, reason, lastKnown, scene, ageMs) {
  const last = lastKnown ? [`, last seen ${plain(lastKnown)}`] : [];
  const ago = typeof ageMs === "number" ? [lastKnown ? " " : ", last evidence ", age(scene.clock, ageMs), " ago"] : [];
  return h("p", { class: "what" }, sign, h("strong", {}, name), h("span", {}, reason, last, ago));
}

/** Failing checks that no cause accounts for. */
export function unexplainedView(diagnosis) {
  const left = list(diagnosis?.unexplained);
  if (left.length === 0) return null;
  return section("unexplained", "Unexplained", left.length, h("p", {}, "Failing checks that no named cause accounts for."), lines(left, (evidence) =>
    h("p", {}, evidenceText(evidence))));
}

/** Where the map and what was seen differ. */
export function findingsView(overview, scene) {
  const findings = list(overview.findings);
  if (findings.length === 0) return null;
  return section("findings", "Drift", findings.length, h("p", {}, "Where the map and what was seen differ."), lines(findings, (finding) => [
    h("p", {}, h("strong", {}, nameOf(scene.names, finding.subject)), " ", h("span", { class: "quiet" }, plain(finding.kind))),
    h("p", {}, finding.text),
  ]));
}

/** A changed configuration that is not in force: what runs and what the files say are not the same. */
export function refusedView(overview, scene) {
  const refused = overview.configuration?.refused;
  if (!refused) return null;
  const problems = list(refused.problems);
  const all = problems.length + (refused.left_out ?? 0);
  return section("refused", "Configuration refused", all, h("p", {}, "What was loaded before stays in force. The change was refused ", age(scene.clock, refused.age_ms), " ago:"), lines(problems, (problem) =>
    h("p", {}, problem)));
}

/** Services that depend on each other in a circle. */
export function cyclesView(overview) {
  const cycles = list(overview.cycles);
  if (cycles.length === 0) return null;
  return section("cycles", "Cycles on the map", cycles.length, lines(cycles, (cycle) => h("p", {}, arrows(cycle.text ?? list(cycle.chain).join(" -> ")))));
}

function lines(all, draw) {
  const rest = all.length - LINES_SHOWN;
  return h("ul", { class: "entries" }, all.slice(0, LINES_SHOWN).map((one) => h("li", {}, draw(one))), rest > 0 && h("li", { class: "quiet" }, `and ${rest} more`));
}

/** Incidents that are over, newest first. */
export function resolvedView(incidents, scene) {
  const resolved = list(incidents?.resolved);
  if (resolved.length === 0) return null;
  const columns = [
    { title: "Incident", class: "c-name" },
    { title: `Began (${zoneLabel()})`, class: "moment", label: "began" },
    { title: "Lasted", class: "number", label: "lasted" },
    { title: "Impacted", class: "number", label: "impacted" },
    { title: "Resolved", class: "number", label: "resolved" },
  ];
  const rows = resolved.slice(0, LINES_SHOWN).map((incident) => ({
    key: `resolved-${incident.id}`,
    class: "calm",
    cells: [
      h("p", { class: "name" }, h("a", { href: `#/incident/${encodeURIComponent(incident.id)}` }, arrows(incident.title))),
      moment(scene.clock, incident.began_at),
      duration(incident.duration_ms ?? 0),
      count(list(incident.impacted).length, "service"),
      incident.resolved_at && [elapsed(scene.clock, incident.resolved_at), " ago"],
    ],
  }));
  return section("resolved", "Recently resolved", resolved.length, table("resolved", "Incidents that are over, newest first", columns, rows));
}
