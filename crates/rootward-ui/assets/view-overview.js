// The first view: incidents, else one sentence; then what is not known; then the lists.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { mark, section } from "./parts.js";
import { incidentView } from "./view-incident.js";
import { cyclesView, findingsView, refusedView, resolvedView, suspectedView, unexplainedView, unknownView } from "./view-notes.js";
import { countsText, resourcesTable, servicesTable } from "./view-rows.js";
import { emptyView } from "./view-states.js";
import { count, list, matches } from "./words.js";

/** Whether the diagnosis can add anything to what the overview says. */
export function deservesDiagnosis(overview) {
  if (list(overview.incidents).length > 0) return true;
  const seldom = (row) => row.status !== "healthy" || list(row.impacted_by).length > 0 || row.pending || row.instances?.unknown > 0;
  return list(overview.services).some(seldom) || list(overview.resources).some((row) => row.status !== "up");
}

/** The whole overview as nodes. */
export function overviewView(overview, diagnosis, incidents, scene, { filter, limit }) {
  const services = list(overview.services);
  const resources = list(overview.resources);
  if (services.length === 0 && resources.length === 0) return [emptyView()];
  const open = list(overview.incidents);
  // While nothing was seen, everything is unknown and the lists below say so already.
  const unknown = overview.newest_evidence_at ? unknownView(overview, diagnosis, scene) : null;
  const notes = [suspectedView(diagnosis, scene), unknown, unexplainedView(diagnosis)];
  const later = [findingsView(overview, scene), cyclesView(overview)];
  return [
    sentence(overview, open, services, resources),
    refusedView(overview, scene),
    open.length > 0 && h("div", { "data-key": "incidents", id: "incidents" }, open.map((incident) => incidentView(incident, scene))),
    pair("notes", notes),
    services.length > 0 && section("services", "Services", found(services, filter), servicesTable(services, scene, filter, limit)),
    resources.length > 0 && section("resources", "Resources", found(resources, filter), resourcesTable(resources, scene, filter, limit)),
    pair("later", later),
    resolvedView(incidents, scene),
  ].filter(Boolean);
}

function found(rows, filter) {
  return filter ? `${rows.filter((row) => matches(row, filter)).length} of ${rows.length}` : rows.length;
}

function pair(key, parts) {
  const kept = parts.filter(Boolean);
  return kept.length > 0 && h("div", { class: "pair", "data-key": key }, kept);
}

function sentence(overview, open, services, resources) {
  // With an incident its own card says the headline; saying it twice would only push it down.
  const title = open.length > 0 ? count(open.length, "incident") : overview.newest_evidence_at ? String(overview.headline ?? "") : "Nothing was seen yet";
  return h(
    "div",
    { class: "sentence", "data-key": "sentence" },
    h("h1", { tabindex: "-1" }, icon(open.length > 0 ? "cause" : worst(overview)), h("span", {}, title)),
    h(
      "p",
      { class: "counts" },
      // A healthy headline has counted the services already.
      !(open.length === 0 && worst(overview) === "healthy") && h("span", {}, countsText(overview.counts?.services, services.length, "service")),
      resources.length > 0 && h("span", {}, countsText(overview.counts?.resources, resources.length, "resource")),
    ),
    !overview.newest_evidence_at && h("p", {}, "Nothing has answered yet, so everything below is unknown and nothing is assumed to be well."),
    groups(list(overview.groups)),
  );
}

/** The worst status that occurs; unknown stands between degraded and unhealthy. */
function worst(overview) {
  const services = overview.counts?.services ?? {};
  const resources = overview.counts?.resources ?? {};
  if (services.unhealthy > 0 || resources.down > 0) return "unhealthy";
  if (services.unknown > 0 || !overview.newest_evidence_at) return "unknown";
  if (services.degraded > 0 || resources.degraded > 0) return "degraded";
  return services.starting > 0 ? "starting" : "healthy";
}

function groups(all) {
  if (all.length === 0) return null;
  return h("ul", { class: "groups", "aria-label": "Groups" }, all.map((group) =>
    h("li", {}, h("span", {}, group.public_name ?? group.name), mark(group.status), group.impacted && mark("impacted", "impacted"))));
}
