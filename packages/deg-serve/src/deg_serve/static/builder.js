// The builder: fields are added to the schema's text by a form, and taken out by its list.

import { byId, make } from "./dom.js";
import { member, parseJson } from "./json.js";
import { pretty } from "./spelling.js";

const FORMATS = ["date", "date-time", "email", "uri", "uuid"];
const STEP = /^[^[\]]+(\[\])?$/;
const EMPTY = '{"type": "object", "properties": {}, "required": []}';

/** Listen to the form; `area` holds the schema and `onChange` is called when its text changed. */
export function listenToBuilder(area, onChange) {
  const form = byId("field-form");
  const put = (root, message) => {
    area.value = pretty(root);
    byId("builder-state").textContent = message;
    onChange();
  };
  form.elements.kind.addEventListener("change", () => showParts(form));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    try {
      const field = Object.fromEntries(new FormData(form));
      const root = parseJson(area.value.trim() || EMPTY);
      add(root, field.name.trim(), fieldSchema(field), Boolean(field.required));
      put(root, `${field.name.trim()} is added`);
      form.elements.name.value = form.elements.description.value = "";
      form.elements.name.focus();
    } catch (error) {
      byId("builder-state").textContent = error.message;
    }
  });
  byId("field-list").addEventListener("click", (event) => {
    const name = event.target.closest("button")?.dataset.name;
    if (name === undefined) return;
    const root = parseJson(area.value);
    remove(root, name);
    put(root, `${name} is removed`);
    (byId("field-list").querySelector("button") ?? form.elements.name).focus();
  });
  showParts(form);
}

/** List the fields of a schema, each with a button that takes it out. */
export function listFields(root) {
  const names = member(root, "properties")?.members?.map(({ key }) => key) ?? [];
  const remover = (name) => ({ type: "button", "data-name": name, "aria-label": `Remove ${name}` });
  const chip = (name) => make("li", {}, make("code", {}, name), make("button", remover(name), "×"));
  byId("field-list").replaceChildren(...names.map(chip));
}

function showParts(form) {
  const kind = form.elements.kind.value;
  for (const part of form.querySelectorAll("[data-for]")) part.hidden = part.dataset.for !== kind;
  // a text that is written is always there
  form.elements.nullable.disabled = kind === "written";
}

function fieldSchema({ description, ...field }) {
  return { ...kindSchema(field), ...(description ? { description } : {}) };
}

function kindSchema({ kind, nullable, choices, low, high, longest }) {
  const typed = (type, more = {}) => ({ type: nullable ? [type, "null"] : type, ...more });
  if (kind === "text") return typed("string");
  if (FORMATS.includes(kind)) return typed("string", { format: kind });
  if (kind === "scale") return typed("integer", { minimum: whole(low, "from"), maximum: whole(high, "to") });
  if (kind === "written") return { type: "string", "x-generate": true, maxLength: whole(longest, "longest") };
  if (kind !== "choice") return typed(kind);
  const options = [...new Set(choices.split(",").map((each) => each.trim()).filter(Boolean))];
  if (options.length < 2) throw new Error("give two choices at least, with a comma between them");
  return { enum: nullable ? [...options, null] : options };
}

function whole(text, name) {
  if (!/^-?\d+$/.test(text)) throw new Error(`“${name}” is a whole number`);
  return Number(text);
}

/** Add a property; a name with dots goes into objects, one with [] into the items of a list. */
function add(root, name, schema, isRequired) {
  const steps = name.split(".");
  if (!steps.every((step) => STEP.test(step))) throw new Error("give a name such as total or items[].price");
  let object = root;
  steps.forEach((step, index) => {
    const key = step.replace("[]", "");
    const isLast = index === steps.length - 1;
    const own = isLast ? schema : { type: "object", properties: {}, required: [] };
    const wanted = parseJson(JSON.stringify(step.endsWith("[]") ? { type: "array", items: own } : own));
    const properties = partOf(object, "properties", "{}");
    const known = member(properties, key);
    if (isLast || !known) set(properties, key, wanted);
    if (isLast ? isRequired : !known) require_(object, key, true);
    if (isLast && !isRequired) require_(object, key, false);
    const next = member(properties, key);
    object = member(next, "items") ?? next;
  });
}

function remove(root, name) {
  const properties = member(root, "properties");
  properties.members = properties.members.filter(({ key }) => key !== name);
  require_(root, name, false);
}

function require_(object, name, isRequired) {
  const required = partOf(object, "required", "[]");
  required.items = required.items.filter(({ value }) => value !== name);
  if (isRequired) required.items.push({ kind: "string", value: name });
  // an empty list says nothing
  if (!required.items.length) object.members = object.members.filter(({ key }) => key !== "required");
}

function partOf(object, key, empty) {
  if (object?.kind !== "object") throw new Error("the schema is not an object");
  if (!member(object, key)) set(object, key, parseJson(empty));
  const part = member(object, key);
  if (part.kind !== parseJson(empty).kind) throw new Error(`“${key}” of the schema is not what it should be`);
  return part;
}

function set(object, key, node) {
  const known = object.members.find((each) => each.key === key);
  if (known) known.node = node;
  else object.members.push({ key, node });
}
