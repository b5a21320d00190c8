// What the address says is shown: a view, a name, a filter. Any of it can be pasted into a chat.

const VIEWS = new Set(["service", "resource", "incident"]);

/** "#/service/cart?q=db" as `{ view: "service", name: "cart", filter: "db" }`. */
export function parseRoute(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [view, ...rest] = path.split("/");
  const filter = new URLSearchParams(query).get("q") ?? "";
  const name = decoded(rest.join("/"));
  return VIEWS.has(view) && name ? { view, name, filter } : { view: "overview", name: "", filter };
}

/** The address of a route. */
export function formatRoute({ view, name, filter }) {
  const path = view === "overview" ? "#/" : `#/${view}/${encodeURIComponent(name)}`;
  return filter ? `${path}?${new URLSearchParams({ q: filter })}` : path;
}

/** Where the server answers for the subject of a route; undefined for the overview. */
export function pathOf({ view, name }) {
  return view === "overview" ? undefined : `api/v1/${view}s/${encodeURIComponent(name)}`;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
