// Where everything meets: what was read and where the reader is, drawn anew whenever either changes.

import { read, UNDERSTOOD } from "./api.js";
import { h, patch } from "./dom.js";
import { listen } from "./keys.js";
import { namesOf } from "./parts.js";
import { startRounds } from "./rounds.js";
import { formatRoute, parseRoute, pathOf } from "./route.js";
import { clockOf, duration, pageNow } from "./time.js";
import { backView, missingView, resourceView, serviceView } from "./view-detail.js";
import { incidentView } from "./view-incident.js";
import { deservesDiagnosis, overviewView } from "./view-overview.js";
import { ROWS_SHOWN } from "./view-rows.js";
import { brokenView, failureText, isLost, noticesView, roundView, spokenText, waitingView } from "./view-states.js";
import { list } from "./words.js";

const place = Object.fromEntries(["main", "link", "round", "spoken", "search", "keys"].map((id) => [id, document.getElementById(id)]));

/** The newest answers, each with the time it was received, and the failures since. */
const told = { overview: undefined, failure: undefined, diagnosis: undefined, incidents: undefined, detail: undefined, partial: undefined };
/** Where the reader is. */
const reader = { route: parseRoute(location.hash), filter: "", limit: ROWS_SHOWN, scrolled: 0, opened: "" };
reader.filter = reader.route.filter;
const started = pageNow();

async function round(signal) {
  const overview = await read("api/v1/overview", signal);
  if (overview.kind !== "answer") {
    told.failure = overview;
    return draw();
  }
  told.overview = overview;
  told.failure = undefined;
  draw();
  const missing = [];
  told.diagnosis = deservesDiagnosis(overview.data) ? answerOr(await read("api/v1/diagnosis", signal), "the diagnosis", missing) : undefined;
  told.incidents = answerOr(await read("api/v1/incidents", signal), "past incidents", missing) ?? told.incidents;
  await readDetail(signal, missing);
  told.partial = missing.join("; ") || undefined;
  draw();
}

function answerOr(outcome, name, missing) {
  if (outcome.kind === "answer") return outcome;
  missing.push(`${name} (${failureText(outcome)})`);
  return undefined;
}

async function readDetail(signal, missing) {
  const path = pathOf(reader.route);
  if (!path) return;
  const outcome = await read(path, signal);
  const known = told.detail?.path === path ? told.detail.answer : undefined;
  const gone = outcome.kind === "problem" && outcome.status === 404;
  if (known && !gone) told.detail = { path, answer: answerOr(outcome, reader.route.name, missing) ?? known };
  else told.detail = outcome.kind === "answer" ? { path, answer: outcome } : { path, failure: outcome };
}

function draw() {
  const now = pageNow();
  const focused = document.activeElement;
  let nodes;
  try {
    drawFrame(now);
    nodes = view(now);
  } catch (error) {
    nodes = brokenView(String(error?.message ?? error));
  }
  patch(place.main, nodes);
  // Moving a row takes the focus from it.
  if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
}

function drawFrame(now) {
  const { overview, failure, partial } = told;
  const clock = overview && clockOf(overview, now);
  const lost = isLost(overview, failure, now);
  document.body.dataset.link = lost ? "lost" : "held";
  patch(place.link, noticesView({ overview, failure, partial, clock, now, understood: UNDERSTOOD }));
  patch(place.round, overview ? roundView(overview.data, clock) : []);
  const spoken = spokenText(overview, failure, now);
  if (place.spoken.textContent !== spoken) place.spoken.textContent = spoken;
  const open = list(overview?.data.incidents);
  const subject = reader.route.view === "overview" ? open[0]?.title : reader.route.name;
  document.title = `${lost ? "(old) " : ""}${open.length > 0 ? `(${open.length}) ` : ""}${subject ? `${subject} · ` : ""}Rootward`;
}

function view(now) {
  const { overview, diagnosis, incidents, detail, failure } = told;
  if (!overview) return waitingView(started, failure, now);
  const rows = new Map([...list(overview.data.resources), ...list(overview.data.services)].map((row) => [row.name, row]));
  const names = namesOf(overview.data);
  const sceneOf = (answer) => ({ clock: clockOf(answer, now), names, rows, diagnosis: diagnosis?.data, incidents: overview.data.incidents });
  const path = pathOf(reader.route);
  if (!path) {
    // The parts come from answers of one round, a moment apart; ages are counted from the first.
    return overviewView(overview.data, diagnosis?.data, incidents?.data, sceneOf(overview), { filter: reader.filter.trim(), limit: reader.limit });
  }
  if (detail?.path !== path || !detail.answer) return missingView(reader.route, detail?.path === path ? detail.failure : undefined);
  const scene = sceneOf(detail.answer);
  if (reader.route.view === "service") return serviceView(detail.answer.data, scene);
  if (reader.route.view === "resource") return resourceView(detail.answer.data, scene);
  return [backView(), h("div", { "data-key": "incident" }, incidentView(detail.answer.data, scene, { whole: true }))];
}

/** Ages go on counting between the answers. */
function tick() {
  const now = pageNow();
  for (const node of document.querySelectorAll("[data-from]")) {
    const text = duration(now - Number(node.dataset.from));
    if (node.textContent !== text) node.textContent = text;
  }
  try {
    drawFrame(now);
  } catch {
    // What cannot be drawn is said by the next `draw`.
  }
}

function go(route) {
  location.hash = formatRoute(route);
}

function arrived() {
  const before = reader.route;
  reader.route = parseRoute(location.hash);
  const same = before.view === reader.route.view && before.name === reader.route.name;
  if (reader.route.view === "overview") setFilter(reader.route.filter);
  if (before.view === "overview" && !same) reader.scrolled = scrollY;
  if (before.view === "overview" && !same) reader.opened = location.hash.split("?")[0];
  draw();
  if (same) return;
  if (pathOf(reader.route)) {
    scrollTo(0, 0);
    place.main.querySelector("h1")?.focus();
    rounds.now();
  } else {
    scrollTo(0, reader.scrolled);
    const link = [...place.main.querySelectorAll("a")].find((one) => one.getAttribute("href") === reader.opened);
    (link ?? place.main).focus({ preventScroll: true });
  }
}

function setFilter(text) {
  reader.filter = text;
  reader.limit = ROWS_SHOWN;
  if (place.search.value !== text) place.search.value = text;
}

function filterBy(text) {
  setFilter(text);
  const route = { view: "overview", name: "", filter: text };
  if (reader.route.view !== "overview") return go(route);
  reader.route = route;
  history.replaceState(null, "", formatRoute(route));
  draw();
}

function close(typing) {
  if (typing) {
    if (place.search.value) filterBy("");
    place.search.blur();
  } else if (reader.route.view !== "overview") {
    go({ view: "overview", name: "", filter: reader.filter });
  } else if (reader.filter) {
    filterBy("");
  }
}

const ROWS = "[data-row] .name a";

function move(step) {
  const links = [...place.main.querySelectorAll(`.incident h2 a, ${ROWS}`)];
  const at = links.indexOf(document.activeElement);
  const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step;
  links[next]?.focus();
  links[next]?.scrollIntoView({ block: "nearest" });
}

/** From the filter into what it found. */
function enterRows() {
  place.main.querySelector(ROWS)?.focus();
}

function jump(part) {
  if (reader.route.view !== "overview") {
    history.pushState(null, "", formatRoute({ view: "overview", name: "", filter: reader.filter }));
    arrived();
  }
  const find = (selector) => place.main.querySelector(selector);
  const target = part === "incidents" ? (find(".incident h2") ?? find("h1")) : find(`#${part}-title`);
  target?.focus({ preventScroll: true });
  target?.scrollIntoView({ block: "start" });
}

async function copy(button) {
  const source = document.getElementById(button.dataset.source);
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
  } catch {
    // Without a clipboard (plain HTTP from another machine) the text is at least selected.
    getSelection().selectAllChildren(source);
    button.textContent = "Selected: press Ctrl+C";
  }
}

document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target.closest("[data-action]") : null;
  if (target?.dataset.action === "copy") copy(target);
  if (target?.dataset.action === "more") {
    reader.limit += ROWS_SHOWN;
    draw();
  }
  if (target?.dataset.action === "back" && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    close(false);
  }
});
place.search.addEventListener("input", () => filterBy(place.search.value));
document.getElementById("keys-open").addEventListener("click", () => place.keys.showModal());
document.getElementById("keys-close").addEventListener("click", () => place.keys.close());
addEventListener("hashchange", arrived);
history.scrollRestoration = "manual";
listen({ close, move, jump, enterRows, search: () => place.search.focus(), keys: () => place.keys.showModal() });

setFilter(reader.filter);
draw();
setInterval(tick, 1_000);
const rounds = startRounds(round);
