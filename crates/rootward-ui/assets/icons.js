// One shape for each status, so that a status is told without colour and without reading.

import { h } from "./dom.js";

const OCTAGON = "M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z";
const SQUARE = "M3.5 2h9A1.5 1.5 0 0 1 14 3.5v9a1.5 1.5 0 0 1-1.5 1.5h-9A1.5 1.5 0 0 1 2 12.5v-9A1.5 1.5 0 0 1 3.5 2z";
const CIRCLE = "M14.2 8A6.2 6.2 0 1 1 1.8 8a6.2 6.2 0 0 1 12.4 0z";
const QUESTION = "M6.2 6.3a1.8 1.8 0 1 1 2.6 1.6c-.5.3-.8.6-.8 1.1M8 11.3v.1";

// Without a prototype, so that no word of an answer finds something that is not a shape.
const SHAPES = {
  __proto__: null,
  healthy: [{ d: "M3.5 8.5l3 3 6-7" }],
  degraded: [{ d: "M8 2.2 14.3 13.5H1.7z" }, { d: "M8 6.5v3M8 11.5v.1" }],
  unknown: [{ d: CIRCLE, "stroke-dasharray": "2.6 2.27" }, { d: QUESTION }],
  starting: [{ d: CIRCLE }, { d: "M5 8v.1M8 8v.1M11 8v.1", "stroke-width": "2" }],
  unhealthy: [{ d: "M8 1.3 14.7 8 8 14.7 1.3 8z" }, { d: "M6 6l4 4M10 6l-4 4" }],
  cause: [{ d: OCTAGON }, { d: "M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4" }],
  suspected: [{ d: OCTAGON }, { d: QUESTION }],
  impacted: [{ d: SQUARE }, { d: "M2 8l6-6M2 14 14 2M8 14l6-6", "stroke-width": "1.2" }],
  weakened: [{ d: SQUARE }, { d: "M8 4.5v6M5.5 8.2 8 10.7l2.5-2.5" }],
  pending: [{ d: CIRCLE }, { d: "M8 4.5V8l2.5 1.5" }],
  ended: [{ d: OCTAGON }, { d: "M5 8.3l2.2 2.2L11 6" }],
  away: [{ d: "M2 5.5c3.5-3.3 8.5-3.3 12 0M4.5 8.5c2.2-2 4.8-2 7 0M8 12v.1" }, { d: "M2.5 13.5l11-11" }],
};

// A resource's words share the shapes of the services' words that mean the same.
const SAME = { __proto__: null, up: "healthy", down: "unhealthy" };

/** The shape for a status or mark; a word this page does not know has the shape of unknown. */
export function icon(name) {
  const shape = SHAPES[name] ?? SHAPES[SAME[name]] ?? SHAPES.unknown;
  const pen = { fill: "none", stroke: "currentColor", "stroke-width": "1.5", "stroke-linecap": "round", "stroke-linejoin": "round" };
  return h(
    "svg",
    { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" },
    shape.map((line) => h("path", { ...pen, ...line })),
  );
}
