// Cards: one answered field, with its value, its reason and its probabilities.

import { make } from "./dom.js";
import { percent, reason, MODES } from "./words.js";

const MOST_OPTIONS = 6;
const MOST_LEVELS = 11;

/**
 * Make the card of a field.
 *
 * A field is `{number, name, about, meta, value, isPresent, text, hue, written, outcomes}`; `meta` is
 * missing while it waits, `text` is what was written of it by now.
 */
export function card(field) {
  const { number, meta, hue } = field;
  const element = make(
    "article",
    { class: `card ${kindOf(field)}`, id: `field-${number}`, "data-fields": number, "aria-label": field.name },
    header(field),
    field.about && make("p", { class: "about" }, field.about),
    value(field),
    meta && note(field),
    meta && sureness(field),
  );
  if (hue !== undefined) element.style.setProperty("--hue", hue);
  return element;
}

function kindOf({ meta, text, hue }) {
  if (!meta) return text === undefined ? "waiting" : "written writing";
  if (meta.null_reason) return "missing";
  if (meta.mode === "generate") return "written";
  return hue === undefined ? "decided" : "read";
}

function header({ number, name, meta, hue, text }) {
  const title = hue === undefined ? name : make("a", { href: `#mark-${number}`, "data-to-mark": number }, name);
  const mode = meta ? (MODES[meta.mode] ?? meta.mode) : text === undefined ? "waiting" : "writing";
  return make("header", {}, make("h3", {}, title), make("span", { class: "mode" }, mode));
}

function value({ meta, value: node, isPresent, text, shownValue }) {
  if (!meta) return text === undefined ? null : make("p", { class: "value string", dir: "auto" }, text);
  if (!isPresent) return make("p", { class: "value none" }, "left out");
  if (node.kind === "literal" && node.value === null) return make("p", { class: "value none" }, "null");
  const kind = node.kind === "string" ? "string" : "literal";
  const empty = shownValue === "" && "empty";
  return make("p", { class: empty ? "value none" : `value ${kind}`, dir: "auto" }, empty || shownValue);
}

function note({ meta, written, shownValue, outcomes, value: node }) {
  const parts = [];
  if (meta.null_reason) parts.push(reason(meta));
  const answer = node && outcomes.find((outcome) => outcome.isAnswer);
  if (answer?.note) parts.push(answer.note);
  if (written !== undefined && written !== shownValue) parts.push(["written ", make("q", {}, written)]);
  if (meta.assumed_offset) parts.push("the offset is assumed");
  if (meta.expected !== undefined) parts.push(`expected level ${meta.expected.toFixed(2)}`);
  if (meta.generated_tokens !== undefined) {
    parts.push(`${meta.generated_tokens} ${meta.generated_tokens === 1 ? "token" : "tokens"}`);
  }
  if (!parts.length) return null;
  return make("p", { class: "note" }, ...parts.flatMap((part, index) => [index ? ", " : "", part].flat()));
}

function sureness({ meta, outcomes }) {
  if (meta.mode === "decide.score" && outcomes.length <= MOST_LEVELS) return levels(outcomes);
  if (outcomes.length) return options(outcomes);
  if (meta.confidence === undefined || meta.confidence === null) return null;
  return bars([{ label: "confidence", probability: meta.confidence, isAnswer: true }]);
}

function options(outcomes) {
  if (outcomes.length <= MOST_OPTIONS) return bars(outcomes);
  const likely = [...outcomes].sort((a, b) => b.probability - a.probability);
  const rest = likely.slice(MOST_OPTIONS - 1);
  const share = percent(rest.reduce((sum, { probability }) => sum + probability, 0));
  return make(
    "div",
    {},
    bars(likely.slice(0, MOST_OPTIONS - 1)),
    make("details", {}, make("summary", {}, `${rest.length} more, ${share} together`), bars(rest)),
  );
}

function bars(outcomes) {
  return make("ul", { class: "bars" }, ...outcomes.map((outcome) => row(outcome, "width")));
}

function levels(outcomes) {
  return make("ul", { class: "levels" }, ...outcomes.map((outcome) => row(outcome, "height")));
}

function row({ label, note: about, probability, isAnswer }, side) {
  const bar = make("b");
  bar.style[side] = `${Math.max(0, Math.min(1, probability)) * 100}%`;
  const parts = [
    make("span", { class: "label" }, label),
    make("span", { class: "track", "aria-hidden": "true" }, bar),
    make("span", { class: "number" }, percent(probability)),
  ];
  // a level stands on its column, with the number above
  const ordered = side === "height" ? parts.reverse() : parts;
  // a long label is cut short
  const title = [label, about].filter(Boolean).join(": ");
  return make("li", { class: isAnswer ? "answer" : "other", title }, ...ordered);
}
