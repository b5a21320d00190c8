// One service or one resource: its instances and what each last said, what it depends on, who calls it.

import { h } from "./dom.js";
import { age, elapsed, mark, moment, nameOf, section, sinceCell, table } from "./parts.js";
import { impactLine, marksOf } from "./view-rows.js";
import { causeName, count, list, plain } from "./words.js";

/** The way back to the list, the same in every detail. */
export function backView() {
  return h("p", { class: "back", "data-key": "back" }, h("a", { href: "#/", "data-action": "back" }, "← all services"), " ", h("kbd", { "aria-hidden": "true" }, "Esc"));
}

/** A detail that is still awaited or was refused. */
export function missingView(route, failure) {
  const told = !failure ? "Asking the server." : failure.kind === "problem" && failure.status === 404 ? failure.message : `It could not be read: ${failure.message}.`;
  return [backView(), h("div", { class: "detail-head", "data-key": "head" }, h("h1", { tabindex: "-1" }, h("bdi", {}, route.name)), h("p", {}, told))];
}

/** A service. */
export function serviceView(service, scene) {
  const instances = list(service.detail);
  return [
    backView(),
    head(service, scene, [service.entry_point && "entry point", service.owner ? `owner ${service.owner}` : "no owner declared", typeof service.at_least === "number" && `needs at least ${service.at_least}`, instancesText(service.instances)]),
    section("instances", "Instances", instances.length, instances.length > 0 ? instances.map((one) => instanceView(one, scene)) : h("p", { class: "quiet" }, "No instance is known.")),
    dependenciesView("dependencies", "Depends on", list(service.dependencies), scene, "it depends on nothing that the map or its reports name"),
    dependenciesView("callers", "Called by", list(service.callers), scene, "nobody: it is an entry point"),
  ];
}

/** A resource, which is never polled: only its callers' checks speak about it. */
export function resourceView(resource, scene) {
  return [
    backView(),
    head(resource, scene, [resource.kind, resource.owner ? `owner ${resource.owner}` : "no owner declared", resource.target]),
    dependenciesView("callers", "Called by", list(resource.callers_detail), scene, "nobody that the map or a report names, so nothing is known about it"),
  ];
}

function head(row, scene, about) {
  const since = elapsed(scene.clock, row.since);
  const seen = typeof row.age_ms === "number" ? ["newest evidence ", age(scene.clock, row.age_ms), " old"] : ["no evidence yet"];
  return h(
    "div",
    { class: "detail-head", "data-key": "head" },
    h("h1", { tabindex: "-1" }, h("bdi", {}, row.name), mark(row.status), marksOf(row)),
    h("p", {}, row.reason),
    list(row.impacted_by).map((impact) => impactLine(impact, scene)),
    row.root_cause && incidentsOf(row, scene),
    h("p", { class: "quiet" }, about.filter(Boolean).join(" · ")),
    h("p", { class: "quiet" }, since && [`${plain(row.status)} since `, moment(scene.clock, row.since, { zone: true }), " (", since, ") · "], seen),
  );
}

function instancesText(instances) {
  const words = ["unhealthy", "starting", "unknown", "degraded", "healthy", "gone"].filter((word) => instances?.[word] > 0);
  return instances && `${count(instances.total ?? 0, "instance")}: ${words.map((word) => `${instances[word]} ${word}`).join(", ") || "none seen"}`;
}

function incidentsOf(row, scene) {
  return list(scene.incidents).filter((incident) => causeName(incident.cause) === row.name).map((incident) =>
    h("p", {}, "Incident: ", h("a", { href: `#/incident/${encodeURIComponent(incident.id)}` }, incident.title)));
}

function instanceView(instance, scene) {
  const troubled = instance.status !== "healthy";
  const poll = instance.last_poll;
  const place = [
    instance.version && `version ${instance.version}`, instance.zone && `zone ${instance.zone}`, instance.host && `host ${instance.host}`,
    instance.ready === true && "ready", instance.ready === false && "not ready",
    instance.draining && "draining", instance.serving === false && "not serving",
  ].filter(Boolean);
  const components = list(instance.components);
  return h(
    "details",
    { class: "instance", "data-key": `${instance.id} ${troubled ? "troubled" : "well"}`, open: troubled },
    h("summary", {}, h("bdi", { class: "name" }, instance.id), mark(instance.status),
      instance.last_known && instance.last_known !== instance.status && h("span", { class: "quiet" }, `last seen ${plain(instance.last_known)}`),
      h("span", {}, instance.reason)),
    h(
      "div",
      { class: "inside" },
      h("p", { class: "quiet" }, pollText(poll, scene), freshnessText(instance, scene)),
      place.length > 0 && h("p", { class: "quiet" }, place.join(" · ")),
      components.length > 0 ? componentsTable(instance, components, scene) : h("p", { class: "quiet" }, "No component was reported."),
    ),
  );
}

function pollText(poll, scene) {
  if (!poll) return "Not polled yet. ";
  const took = typeof poll.latency_ms === "number" ? ` in ${milliseconds(poll.latency_ms)}` : "";
  return ["Last poll ", age(scene.clock, poll.age_ms), ` ago: ${poll.text ?? plain(poll.outcome)}${took}. `];
}

function freshnessText(instance, scene) {
  return typeof instance.age_ms === "number" ? ["Newest evidence ", age(scene.clock, instance.age_ms), " old."] : ["No evidence yet."];
}

function milliseconds(value) {
  return value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`;
}

function componentsTable(instance, components, scene) {
  const columns = [
    { title: "Result", class: "c-status" },
    { title: "Component", class: "c-name" },
    { title: "Weight", label: "weight" },
    { title: "What it saw", class: "c-why why" },
    { title: "Took", class: "number", label: "took" },
    { title: "Since", class: "moment", label: "since" },
    { title: "Checked", class: "number c-seen" },
  ];
  const rows = components.map((one) => ({
    class: one.status === "up" ? "calm" : undefined,
    cells: [
      [mark(one.status), one.pending && [" ", mark("pending", `pending: now ${plain(one.raw_status)}`)]],
      [h("p", { class: "name" }, nameOf(scene.names, one.name)), h("small", { class: "quiet" }, [one.kind, one.target].filter(Boolean).join(" · "))],
      [one.criticality, one.scope === "local" && "local", one.depth && plain(one.depth), one.gates_readiness && "gates readiness"].filter(Boolean).join(", "),
      errorText(one),
      typeof one.latency_ms === "number" && milliseconds(one.latency_ms),
      sinceCell(scene.clock, one.since),
      typeof one.age_ms === "number" ? [age(scene.clock, one.age_ms), " ago"] : "never",
    ],
  }));
  return table("components", `Components of ${instance.id}, as it reported them`, columns, rows);
}

function errorText(component) {
  const category = plain(component.error_category);
  const error = String(component.error ?? "");
  return error.startsWith(category) ? error : [category, error].filter(Boolean).join(": ");
}

function dependenciesView(id, title, dependencies, scene, none) {
  if (dependencies.length === 0) return section(id, title, undefined, h("p", { class: "quiet" }, none));
  const callers = id === "callers";
  const columns = [
    { title: callers ? "Sees it as" : "Seen as", class: "c-status" },
    { title: callers ? "Caller" : "Dependency", class: "c-name" },
    { title: "Weight", label: "weight" },
    { title: "Instances that see it fail", class: "number", label: "instances that see it fail" },
    { title: "Error and declared reason", class: "c-why why" },
  ];
  const rows = dependencies.map((one) => ({
    key: `${id}-${one.name}`,
    class: one.status === "up" ? "calm" : undefined,
    cells: [
      mark(one.status),
      [h("p", { class: "name" }, nameOf(scene.names, one.name)), h("small", { class: "quiet" }, [one.kind, one.owner].filter(Boolean).join(" · "))],
      weight(one),
      one.observing_instances > 0 ? `${one.failing_instances ?? 0} of ${one.observing_instances}` : "nobody looks",
      [one.error_category && h("p", {}, plain(one.error_category)), one.reason && h("p", { class: "quiet" }, one.reason)],
    ],
  }));
  return section(id, title, dependencies.length, table("dependencies", `${title}: ${count(dependencies.length, "edge")} of the map`, columns, rows));
}

function weight(edge) {
  if (edge.criticality === "unlabelled") return "unlabelled, treated as soft";
  return edge.label_source === "none" || !edge.label_source ? edge.criticality : `${edge.criticality}, from the ${edge.label_source}`;
}
