// The only place that touches the document's tree: views return plain data, and this draws it.
//
// Whatever an answer contains ends up as a text node or as the value of one of the attributes named
// here; there is no way to hand markup to the document. Nodes that stay keep their focus, their
// selection and their open state.

const TAGS = new Set([
  "a", "b", "bdi", "button", "caption", "code", "dd", "details", "div", "dl", "dt", "h1", "h2", "h3", "header", "kbd", "li",
  "ol", "p", "pre", "section", "small", "span", "strong", "summary", "table", "tbody", "td", "th", "thead", "time", "tr",
  "ul", "svg", "path",
]);
const DRAWN = new Set(["svg", "path"]);
const ATTRIBUTES = new Set([
  "class", "id", "href", "datetime", "title", "scope", "role", "tabindex", "type", "open", "viewBox", "d", "fill",
  "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray",
]);
const SVG = "http://www.w3.org/2000/svg"; // A name, never fetched.

/** A node as data. Children may be nested lists; false, null and undefined are left out. */
export function h(tag, attributes = {}, ...children) {
  if (!TAGS.has(tag)) throw new Error(`the page does not draw <${tag}>`);
  const kept = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (!ATTRIBUTES.has(name) && !/^(aria|data)-[a-z-]+$/.test(name)) throw new Error(`the page does not set ${name}`);
    if (name === "href" && !String(value).startsWith("#")) throw new Error("the page links only to its own views");
    kept[name] = value === true ? "" : String(value);
  }
  const flat = children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false);
  return { tag, attributes: kept, children: flat.map((child) => (typeof child === "object" ? child : String(child))) };
}

/** Makes the children of `parent` equal to `wanted`, reusing what is there. */
export function patch(parent, wanted) {
  const keyed = new Map();
  for (const child of parent.children) if (child.dataset.key) keyed.set(child.dataset.key, child);
  let place = parent.firstChild;
  for (const next of wanted) {
    const old = reusable(next, place, keyed);
    const node = old ?? create(next);
    if (old) update(old, next);
    if (node === place) place = place.nextSibling;
    else parent.insertBefore(node, place);
  }
  while (place) {
    const after = place.nextSibling;
    place.remove();
    place = after;
  }
}

function reusable(next, place, keyed) {
  if (typeof next === "string") return place?.nodeType === Node.TEXT_NODE ? place : undefined;
  const key = next.attributes["data-key"];
  const found = key ? keyed.get(key) : place;
  if (!(found instanceof Element) || found.localName !== next.tag) return undefined;
  if (!key && found.dataset.key) return undefined;
  keyed.delete(key);
  return found;
}

function create(next) {
  if (typeof next === "string") return document.createTextNode(next);
  const node = DRAWN.has(next.tag) ? document.createElementNS(SVG, next.tag) : document.createElement(next.tag);
  for (const [name, value] of Object.entries(next.attributes)) node.setAttribute(name, value);
  patch(node, next.children);
  return node;
}

function update(node, next) {
  if (typeof next === "string") {
    if (node.data !== next) node.data = next;
    return;
  }
  for (const [name, value] of Object.entries(next.attributes)) {
    // What a person opened or closed stays so.
    if (name !== "open" && node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
  for (const name of node.getAttributeNames()) {
    if (name !== "open" && !(name in next.attributes)) node.removeAttribute(name);
  }
  patch(node, next.children);
}
