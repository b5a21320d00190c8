// The smallest pieces that every view is made of: an age, a moment, a status, a name, a table.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { ageNow, duration, localTime, sinceThen, zoneLabel } from "./time.js";
import { plain } from "./words.js";

/** A duration that goes on counting between answers; `data-from` is read once a second. */
export function counting(ms, now) {
  return h("span", { class: "age", "data-from": Math.round(now - ms) }, duration(ms));
}

/** The age of a figure, taken when the answer was made. */
export function age(clock, ageMs) {
  return typeof ageMs === "number" ? counting(ageNow(clock, ageMs), clock.now) : null;
}

/** How long ago a server time was. */
export function elapsed(clock, text) {
  const ms = sinceThen(clock, text);
  return ms === undefined ? null : counting(ms, clock.now);
}

/** A local clock time; the exact one is its title. */
export function moment(clock, text, { zone = false } = {}) {
  if (!text) return null;
  const shown = localTime(text, clock.generated);
  return h("time", { datetime: text, title: text }, zone ? `${shown} ${zoneLabel(text)}` : shown);
}

/** "03:12:40 (4 min)". */
export function sinceCell(clock, text) {
  return text ? [moment(clock, text), " (", elapsed(clock, text), ")"] : null;
}

const WORDS = { __proto__: null, cause: "root cause", weakened: "degraded by" };

/** Shape and word of a status or of a conclusion. */
export function mark(kind, word) {
  const name = String(kind ?? "unknown");
  const known = /^[a-z]+$/.test(name) ? name : "unknown";
  return h("span", { class: `mark mark-${known}` }, icon(known), word ?? WORDS[name] ?? plain(name));
}

/** A name, as a link if the map knows it. */
export function nameOf(names, name) {
  const kind = names.get(name);
  if (!kind) return h("bdi", {}, name);
  return h("a", { href: `#/${kind}/${encodeURIComponent(name)}` }, h("bdi", {}, name));
}

/** Whether a name is a service or a resource, from the rows of the overview. */
export function namesOf(overview) {
  const names = new Map();
  for (const row of overview?.resources ?? []) names.set(row.name, "resource");
  for (const row of overview?.services ?? []) names.set(row.name, "service");
  return names;
}

/**
 * A table that is still one when a phone shows its rows as blocks: the roles are written out because
 * a changed `display` would take them away.
 */
export function table(kind, caption, columns, rows) {
  return h(
    "table",
    { class: `rows-${kind}`, role: "table" },
    h("caption", { class: "unseen" }, caption),
    h(
      "thead",
      { role: "rowgroup" },
      h("tr", { role: "row" }, columns.map((column) =>
        h("th", { scope: "col", role: "columnheader", class: column.class }, column.title))),
    ),
    h("tbody", { role: "rowgroup" }, rows.map((row) =>
      h(
        "tr",
        { role: "row", class: row.class, "data-key": row.key, "data-row": row.key !== undefined },
        row.cells.map((cell, at) => h("td", { role: "cell", class: columns[at].class, "data-label": columns[at].label }, cell)),
      ))),
  );
}

/** A titled part of the page, reachable as `id`. */
export function section(id, title, number, ...content) {
  return h(
    "section",
    { class: "section", "data-key": id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title`, tabindex: "-1" }, title, number === undefined ? null : h("span", { class: "count" }, ` ${number}`)),
    content,
  );
}
