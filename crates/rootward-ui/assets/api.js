// One question to the server and what came of it: an answer, a problem it named, or silence.

import { pageNow } from "./time.js";

/** The version of the answers that this page can read. */
export const UNDERSTOOD = "rootward-api/1";

/**
 * Reads one path. Never throws: the outcome is `{ kind: "answer", data, received }`,
 * `{ kind: "problem", status, message }` (the server answered, but not with this), or
 * `{ kind: "silence", message }` (nothing came in time).
 */
export async function read(path, signal) {
  let response;
  try {
    // Not from a cache: an age in a cached answer would be wrong.
    response = await fetch(path, { signal, cache: "no-store", credentials: "same-origin", headers: { accept: "application/json" } });
  } catch {
    return { kind: "silence", message: signal.aborted ? "no answer in time" : "no connection" };
  }
  let data;
  try {
    data = await response.json();
  } catch {
    if (signal.aborted) return { kind: "silence", message: "no complete answer in time" };
    return { kind: "problem", status: response.status, message: "the answer is not JSON" };
  }
  if (!response.ok) return { kind: "problem", status: response.status, message: String(data?.error?.message ?? "no reason given") };
  if (data === null || typeof data !== "object") return { kind: "problem", status: response.status, message: "the answer is not an object" };
  return { kind: "answer", data, received: pageNow() };
}
