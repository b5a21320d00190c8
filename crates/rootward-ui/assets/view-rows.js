// The lists of services and resources: what was observed, what is concluded, and how old it is.

import { h } from "./dom.js";
import { age, mark, nameOf, sinceCell, table } from "./parts.js";
import { zoneLabel } from "./time.js";
import { causeText, count, list, matches, pathText } from "./words.js";

/** Rows drawn before a reader asks for more; a filter looks at all of them. */
export const ROWS_SHOWN = 200;

/** The services in the server's order, which is by what deserves a look. */
export function servicesTable(services, scene, filter, limit) {
  return rowsTable("services", "Services, by what deserves a look", services, scene, filter, limit);
}

/** The resources, the same. */
export function resourcesTable(resources, scene, filter, limit) {
  return rowsTable("resources", "Resources, as their callers see them", resources, scene, filter, limit);
}

function rowsTable(kind, caption, rows, scene, filter, limit) {
  const found = filter ? rows.filter((row) => matches(row, filter)) : rows;
  if (found.length === 0) return h("p", { class: "quiet" }, filter ? `No ${kind} match “${filter}”.` : `No ${kind} are declared.`);
  const shown = found.slice(0, limit);
  const rest = found.length - shown.length;
  return [
    table(kind, caption, columns(kind), shown.map((row) => rowOf(kind, row, scene))),
    rest > 0 && h("p", { class: "more" }, h("button", { type: "button", "data-action": "more" }, `Show ${Math.min(rest, ROWS_SHOWN)} more of ${rest}`)),
  ];
}

function columns(kind) {
  return [
    { title: "Status", class: "c-status" },
    { title: kind === "services" ? "Service" : "Resource", class: "c-name" },
    { title: "What was seen", class: "c-why why" },
    { title: `Since (${zoneLabel()})`, class: "moment", label: "since" },
    { title: "Seen", class: "number c-seen" },
  ];
}

function rowOf(kind, row, scene) {
  const hit = list(row.impacted_by);
  const calm = (row.status === "healthy" || row.status === "up") && hit.length === 0 && !row.root_cause && !row.pending;
  return {
    key: `${kind}-${row.name}`,
    class: calm ? "calm" : undefined,
    cells: [
      mark(row.status),
      h("p", {}, h("span", { class: "name" }, nameOf(scene.names, row.name), marksOf(row)), " ", h("small", { class: "quiet" }, about(kind, row))),
      [h("p", {}, row.reason), hit.map((impact) => impactLine(impact, scene))],
      sinceCell(scene.clock, row.since),
      typeof row.age_ms === "number" ? [age(scene.clock, row.age_ms), " ago"] : "never",
    ],
  };
}

/** What is concluded about the thing itself. */
export function marksOf(row) {
  return [row.root_cause && mark("cause"), row.pending && mark("pending")];
}

function about(kind, row) {
  const what = kind === "services" ? (row.entry_point ? "entry point" : undefined) : row.kind;
  return [what, row.owner].filter(Boolean).join(" · ");
}

/** "▨ impacted by orders-db: front → checkout → orders-db". */
export function impactLine(impact, scene) {
  const soft = impact.effect === "degraded";
  const cause = causeText(impact.cause);
  const way = list(impact.path).length > 2 ? [h("span", { class: "quiet" }, `: ${pathText(impact.path)}`)] : null;
  return h("p", {}, mark(soft ? "weakened" : "impacted", soft ? "degraded" : "impacted"), " by ", nameOf(scene.names, cause), way);
}

const WORST_FIRST = ["unhealthy", "down", "starting", "unknown", "degraded", "healthy", "up"];

/** "3 services: 1 unhealthy, 2 healthy", or "3 services, all healthy". */
export function countsText(counts, total, one) {
  const words = WORST_FIRST.filter((word) => counts?.[word] > 0);
  if (words.length === 1 && total > 1) return `${count(total, one)}, all ${words[0]}`;
  return `${count(total, one)}: ${words.map((word) => `${counts[word]} ${word}`).join(", ") || "none seen"}`;
}
