// Problems: each where it belongs, with its place in the text, to which its button leads.

import { byId, make } from "./dom.js";
import { lineAndColumn, member } from "./json.js";
import { rangeAt, tokensOf } from "./pointer.js";
import { schemaOf } from "./schema.js";

const LISTS = ["document-problems", "schema-problems", "answer-problems"];

/** Forget all problems. */
export function clearProblems() {
  for (const id of LISTS) {
    byId(id).replaceChildren();
    byId(id).hidden = true;
  }
}

/** Show `{loc, msg}` problems of a request; return the names of the places that have some. */
export function showProblems(problems, { schemaNode, contextNode }) {
  const places = new Set();
  clearProblems();
  for (const { loc, msg } of problems) {
    const [place, target] = placeOf(loc, schemaNode, contextNode);
    places.add(place);
    const list = byId(`${place}-problems`);
    list.append(make("li", {}, ...link(loc, target), make("span", { class: "message" }, msg)));
    list.hidden = false;
  }
  return places;
}

function placeOf(loc, schemaNode, contextNode) {
  const [first, ...tokens] = tokensOf(loc);
  if (first === "schema") return ["schema", { area: byId("schema"), range: rangeAt(schemaNode, tokens) }];
  if (first === "context") {
    const range = contextNode ? rangeAt(contextNode, tokens) : undefined;
    return ["document", { area: byId("document"), range }];
  }
  // a value that could not be filled is named by its pointer in the answer
  const field = loc && member(schemaNode, "properties") && schemaOf(schemaNode, loc);
  return ["answer", field ? { area: byId("schema"), range: [field.start, field.end] } : undefined];
}

function link(loc, target) {
  if (!loc) return [];
  if (!target?.range) return [make("code", {}, loc), " "];
  const { area, range } = target;
  const { line } = lineAndColumn(area.value, range[0]);
  const go = () => select(area, range);
  return [make("button", { type: "button", onclick: go }, `line ${line}`), " ", make("code", {}, loc), " "];
}

/** Select a stretch of a text area and bring it into view. */
export function select(area, [start, end]) {
  area.dispatchEvent(new CustomEvent("reveal", { bubbles: true }));
  area.focus();
  area.setSelectionRange(start, end);
  const { line } = lineAndColumn(area.value, start);
  const lineHeight = parseFloat(getComputedStyle(area).lineHeight);
  // long lines wrap, so that this is a lower bound
  area.scrollTop = Math.max(0, (line - 3) * lineHeight);
}
