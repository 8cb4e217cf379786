// Schemas: which fields there are, what is said of them, and the outcomes of each decision.

import { member, toValue } from "./json.js";
import { nodeAt, pointerOf, tokensOf } from "./pointer.js";
import { scalar } from "./spelling.js";

const MAX_FIELDS = 2000;
const MAX_LEVELS = 11;

/** Return the pointers of the fields outside of arrays, and of the arrays, in schema order. */
export function topFields(root) {
  const pointers = [];
  const walk = (node, tokens, depth) => {
    const schema = resolve(root, node);
    const properties = member(schema, "properties");
    if (!properties || depth > 30 || pointers.length >= MAX_FIELDS) return pointers.push(pointerOf(tokens));
    return properties.members.forEach(({ key, node: inner }) => walk(inner, [...tokens, key], depth + 1));
  };
  walk(root, [], 0);
  return pointers.filter((pointer) => pointer);
}

/** Return the schema node of the field at a pointer into the answer, or nothing. */
export function schemaOf(root, pointer) {
  return tokensOf(pointer).reduce((node, token) => {
    const schema = resolve(root, node);
    return member(member(schema, "properties"), token) ?? (/^\d+$/.test(token) ? member(schema, "items") : undefined);
  }, root);
}

/** Return what the schema says of a field in words. */
export function about(root, pointer) {
  const node = schemaOf(root, pointer);
  const texts = [node, resolve(root, node)].flatMap((each) => [member(each, "description"), member(each, "title")]);
  return texts.find((text) => text?.kind === "string")?.value ?? "";
}

/** Return the outcomes of a decision in the order of its probabilities, as `{label, note}`. */
export function outcomesOf(root, pointer) {
  return outcomes(root, resolve(root, schemaOf(root, pointer)));
}

function outcomes(root, schema) {
  const options = member(schema, "enum");
  if (options?.items) return options.items.map((option) => ({ label: shown(option) }));
  const branches = member(schema, "oneOf") ?? member(schema, "anyOf");
  if (branches?.items) return branches.items.flatMap((branch) => branchOutcomes(root, resolve(root, branch)));
  const types = [member(schema, "type")].flatMap((type) => (type ? toValue(type) : []));
  const nothing = types.includes("null") ? [{ label: "null" }] : [];
  if (types.includes("boolean")) return [{ label: "true" }, { label: "false" }, ...nothing];
  if (types.includes("integer")) return [...levels(schema), ...nothing];
  return nothing;
}

function branchOutcomes(root, branch) {
  const note = [member(branch, "description"), member(branch, "title")].find((text) => text?.kind === "string")?.value;
  const only = member(branch, "const");
  return only ? [{ label: shown(only), note }] : outcomes(root, branch);
}

function levels(schema) {
  const bound = (name, step) => {
    const node = member(schema, name);
    return node?.kind === "number" ? Number(node.raw) + step : undefined;
  };
  const step = bound("multipleOf", 0) ?? 1;
  const low = bound("minimum", 0) ?? bound("exclusiveMinimum", 1);
  const high = bound("maximum", 0) ?? bound("exclusiveMaximum", -1);
  const names = member(schema, "x-levels");
  const found = [];
  for (let level = Math.ceil(low / step) * step; level <= high && found.length < MAX_LEVELS; level += step) {
    const name = member(names, String(level));
    found.push({ label: String(level), note: name?.kind === "string" ? name.value : undefined });
  }
  return found;
}

/** Follow local references, and see through the nullable form of `anyOf` and `oneOf`. */
function resolve(root, node, depth = 0) {
  if (depth > 30 || !node) return node;
  const reference = member(node, "$ref");
  if (reference?.kind === "string" && reference.value.startsWith("#")) {
    return resolve(root, nodeAt(root, tokensOf(reference.value.slice(1))), depth + 1);
  }
  const branches = (member(node, "anyOf") ?? member(node, "oneOf"))?.items ?? [];
  const others = branches.filter((branch) => member(branch, "type")?.value !== "null");
  const isObject = others.length === 1 && branches.length === 2 && member(others[0], "properties");
  return isObject ? resolve(root, others[0], depth + 1) : node;
}

/** Say a value as one reads it: a text without quotes, anything else as JSON. */
export const shown = (node) => (node.kind === "string" ? node.value : scalar(node));
