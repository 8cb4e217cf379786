// The two panels that a request is written in: what stands there, and whether it can be sent.

import { listFields } from "./builder.js";
import { countCodePoints, jsonPieces, textPieces } from "./context.js";
import { byId } from "./dom.js";
import { JsonError, lineAndColumn, member, parseJson } from "./json.js";
import { select } from "./problems.js";
import { topFields } from "./schema.js";
import { count } from "./words.js";

const sorts = document.getElementsByName("sort");

/** Return the document as `{node, pieces, raw}`, or `{problem}` where it cannot be sent. */
export function readDocument() {
  const text = byId("document").value;
  if (sorts[0].checked) {
    const node = { kind: "string", value: text, start: 0, end: text.length };
    if (/[\ud800-\udfff]/.test(text.replace(/[\ud800-\udbff][\udc00-\udfff]/g, ""))) {
      return { problem: "half of a surrogate pair stands in the text" };
    }
    return { node, pieces: textPieces(text), raw: JSON.stringify(text) };
  }
  const { node, problem, at } = read(text);
  if (problem) return { problem, at };
  if (!node.members && !node.items) return { problem: "a JSON document is an object or an array" };
  return { node, pieces: jsonPieces(node), raw: text };
}

/** Return the schema as `{node, raw}`, or `{problem}` where it cannot be sent. */
export function readSchema() {
  const text = byId("schema").value;
  if (!text.trim()) return { problem: "there is no schema yet", isEmpty: true };
  const { node, problem, at } = read(text);
  if (problem) return { problem, at };
  if (!node.members) return { problem: "a schema is an object: { … }" };
  const twice = repeated(node);
  if (twice) return { problem: `“${twice.key}” is given twice`, at: twice.start };
  return { node, raw: text };
}

/** Show how the document stands. */
export function showDocumentState() {
  const { problem, at, pieces } = readDocument();
  const size = pieces ? count(countCodePoints(byId("document").value), "character") : "";
  tell(byId("document-state"), byId("document"), problem, at, size);
}

/** Show how the schema stands, and the fields that it has. */
export function showSchemaState() {
  const { node, problem, at, isEmpty } = readSchema();
  const fields = member(node, "properties") ? count(topFields(node).length, "field") : "no “properties” yet";
  // an empty schema is no mistake of the reader's
  const good = isEmpty ? problem : `valid JSON, ${fields}`;
  tell(byId("schema-state"), byId("schema"), isEmpty ? undefined : problem, at, good);
  if (node || isEmpty) listFields(node);
}

/** Bring what is wrong with a text into view; return whether there is something. */
export function showWrong(area, { problem, at }) {
  if (problem) select(area, at === undefined ? [0, 0] : [at, at + 1]);
  return Boolean(problem);
}

function tell(place, area, problem, at, good) {
  const { line, column } = at === undefined ? {} : lineAndColumn(area.value, at);
  place.textContent = problem ? `${line ? `line ${line}, column ${column}: ` : ""}${problem}` : good;
  place.dataset.kind = problem ? "error" : "good";
  area.setAttribute("aria-invalid", String(Boolean(problem)));
}

function read(text) {
  try {
    return { node: parseJson(text) };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { problem: error.message, at: error.at };
  }
}

function repeated(node) {
  const keys = new Set();
  for (const part of node.members ?? []) {
    if (keys.has(part.key)) return part;
    keys.add(part.key);
  }
  const inner = (node.members ?? node.items ?? []).map((part) => repeated(part.node ?? part));
  return inner.find(Boolean);
}
