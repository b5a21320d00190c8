// How the answer's identifiers and figures read in English: text in, text out.

/** The list, or nothing, whatever an answer holds in a place for a list. */
export function list(value) {
  return Array.isArray(value) ? value : [];
}

/** "1 service", "3 services". */
export function count(number, one, many = `${one}s`) {
  return `${number} ${number === 1 ? one : many}`;
}

/** "97 % sure", rounded down; certainty is never claimed. */
export function sureness(confidence) {
  if (typeof confidence !== "number" || !(confidence >= 0)) return "confidence not given";
  if (confidence > 0.99) return "more than 99 % sure";
  return `${Math.floor(confidence * 100 + 1e-9)} % sure`;
}

/** "1 in 40": how likely it is that something else is right; as with sureness, certainty is never claimed. */
export function odds(confidence) {
  if (typeof confidence !== "number" || !(confidence >= 0)) return "odds not given";
  if (confidence > 0.99) return "less than 1 in 100";
  return `1 in ${Math.min(100, Math.max(1, Math.round(1 / (1 - confidence))))}`;
}

/** The parts of a cause such as "edge:checkout->orders-db". */
export function causeParts(id) {
  const text = String(id ?? "");
  const colon = text.indexOf(":");
  const kind = colon < 0 ? "" : text.slice(0, colon);
  const ends = text.slice(colon + 1).split("->");
  return { kind, from: ends[0], to: ends[1] };
}

/** A cause as a reader would say it: "the path checkout → orders-db", "instance cart#2". */
export function causeText(id) {
  const { kind, from, to } = causeParts(id);
  if (to !== undefined) return kind === "instance_edge" ? `the path from instance ${from} to ${to}` : `the path ${from} → ${to}`;
  if (kind === "node" || kind === "") return from;
  if (kind === "poller") return `the view of zone ${from}`;
  if (kind === "version") return `release ${from.slice(from.indexOf("@") + 1)} of ${from.split("@")[0]}`;
  return `${kind} ${from}`;
}

/** The name on the map that a cause is about, if it is about one. */
export function causeName(id) {
  const { kind, from } = causeParts(id);
  return kind === "node" ? from : undefined;
}

/**
 * From the cause outwards: ["front","checkout","orders-db"] reads "checkout → front". A way that only
 * begins a longer one is told by the longer one, so every name appears and few appear twice.
 */
export function chains(impacts) {
  const ways = list(impacts).map((impact) => {
    const path = list(impact.path);
    const outward = path.length > 1 ? path.slice(0, -1).reverse() : [impact.service ?? path[0]];
    return outward.filter((name) => typeof name === "string");
  });
  const texts = ways.map((way) => JSON.stringify(way).slice(0, -1));
  return ways.filter((way, index) => {
    if (way.length === 0) return false;
    return !texts.some((other, at) => at !== index && (other.startsWith(`${texts[index]},`) || (other === texts[index] && at < index)));
  });
}

/** How a path reads in a row of its own service: "front → checkout → orders-db". */
export function pathText(path) {
  return list(path).join(" → ");
}

/** "http_5xx" reads "http 5xx". */
export function plain(word) {
  return String(word ?? "").replaceAll("_", " ");
}

/** Whether a row matches a filter: every word in its name, owner, kind, status or conclusion. */
export function matches(row, filter) {
  const marks = [row.root_cause && "root cause", list(row.impacted_by).length > 0 && "impacted", row.pending && "pending"];
  const text = [row.name, row.owner, row.kind, row.status, ...marks].filter(Boolean).join(" ").toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** What an evidence says, in its own words or, without any, in ours. */
export function evidenceText(evidence) {
  return arrows(evidence.text ?? `${evidence.observer} -> ${evidence.target} ${plain(evidence.status)}`);
}

/** The arrows of identifiers, as everywhere else on the page. */
export function arrows(text) {
  return String(text ?? "").replaceAll(" -> ", " → ");
}
