// The answer: a card a field, those of an array's items in groups, in the order of the schema.

import { card } from "./cards.js";
import { byId, make } from "./dom.js";
import { member, toValue } from "./json.js";
import { pretty } from "./spelling.js";
import { count, duration } from "./words.js";

/** Draw all findings; `milliseconds` is how long it took, once it is over. */
export function drawAnswer(findings, milliseconds) {
  const cards = byId("cards");
  const focused = document.activeElement?.closest?.("#cards a")?.dataset.toMark;
  cards.replaceChildren(...groups([...findings.fields.values()], 0));
  if (focused) cards.querySelector(`[data-to-mark="${focused}"]`)?.focus({ preventScroll: true });
  cards.setAttribute("aria-busy", String(!findings.response));
  byId("no-answer").hidden = true;
  byId("value").hidden = byId("facts").hidden = !findings.response;
  if (findings.response) drawResult(findings, milliseconds);
}

/** Put fields whose pointers pass through an array, at `depth` or deeper, in a group an item. */
function groups(fields, depth) {
  const arrays = fields.filter(({ meta }) => meta?.mode === "array");
  const outermost = arrays.filter((one) => !arrays.some((other) => other !== one && isIn(one, other)));
  const drawn = new Set();
  const nodes = [];
  for (const field of fields) {
    const array = outermost.find((one) => one === field || isIn(field, one));
    if (!array) nodes.push(card({ ...field, name: nameFrom(field, depth) }));
    else if (!drawn.has(array)) {
      drawn.add(array);
      nodes.push(list(array, fields.filter((other) => isIn(other, array)), depth));
    }
  }
  return nodes;
}

function isIn({ pointer }, array) {
  return pointer.startsWith(`${array.pointer}/`);
}

function nameFrom(field, depth) {
  const tokens = field.tokens.slice(depth);
  return tokens.length ? tokens.join(" › ") : `item ${Number(field.tokens.at(-1)) + 1}`;
}

function list(array, fields, depth) {
  const inner = array.tokens.length;
  const items = grouped(fields, inner);
  const { items: number, dropped, limit } = array.meta;
  const facts = [count(number, "item")];
  if (dropped) facts.push(`${dropped} dropped, as a required value is not there`);
  if (limit != null) facts.push(`cut at ${limit}`);
  return make(
    "section",
    { class: "list", "aria-label": array.name },
    make("header", {}, make("h3", {}, nameFrom(array, depth)), make("span", { class: "mode" }, "list")),
    array.about && make("p", { class: "about" }, array.about),
    make("p", { class: "note" }, facts.join(", ")),
    ...[...items].map(([index, members]) =>
      make(
        "div",
        { class: "item", role: "group", "aria-label": `${array.name} ${Number(index) + 1}` },
        make("span", { class: "index", "aria-hidden": "true" }, String(Number(index) + 1)),
        make("div", { class: "members" }, ...groups(members, inner + 1)),
      ),
    ),
  );
}

function grouped(fields, position) {
  const items = new Map();
  for (const field of fields) {
    const index = field.tokens[position];
    items.set(index, [...(items.get(index) ?? []), field]);
  }
  return items;
}

function drawResult({ response, fields }, milliseconds) {
  const usage = toValue(member(response, "usage"));
  const fingerprint = member(response, "plan").value;
  byId("facts").replaceChildren(
    fact("fields", sorts([...fields.values()])),
    fact("read", `${count(usage.prompt_tokens, "token")}, ${(usage.cached_tokens ?? 0).toLocaleString("en")} cached`),
    fact("generated", count(usage.generated_tokens, "token")),
    fact("time", duration(milliseconds)),
    fact("plan", make("code", { title: fingerprint }, fingerprint.slice(0, 12))),
  );
  byId("json").textContent = pretty(member(response, "value"));
}

function fact(name, value) {
  return make("div", {}, make("dt", {}, name), make("dd", {}, value));
}

function sorts(fields) {
  const has = (test) => fields.filter(({ meta }) => test(meta)).length;
  const numbers = [
    [has((meta) => meta.span), "copied"],
    [has((meta) => meta.mode.startsWith("decide")), "decided"],
    [has((meta) => meta.mode === "generate"), "written"],
    [has((meta) => meta.null_reason), "not found"],
  ];
  return numbers.filter(([number]) => number).map(([number, word]) => `${number} ${word}`).join(", ") || "none";
}
