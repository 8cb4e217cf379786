// Spelling: JSON as the server spells a context, JSON for reading, and Python literals.

const LINE = 92;

/** Spell a node on one line, character for character as the server renders a JSON context. */
export function compact(node) {
  if (node.kind === "object") {
    const members = node.members.map(({ key, node: inner }) => `${JSON.stringify(key)}: ${compact(inner)}`);
    return `{${members.join(", ")}}`;
  }
  if (node.kind === "array") return `[${node.items.map(compact).join(", ")}]`;
  return scalar(node);
}

/** Spell a node over several lines; what is flat and short stays on one. */
export function pretty(node, indent = "") {
  return nested(node, indent, "  ", compact, scalar);
}

/** Spell a node as a Python literal. */
export function python(node, indent = "") {
  const word = (each) => (each.kind === "literal" ? PYTHON[each.value] : each.raw ?? JSON.stringify(each.value));
  const flat = (each) => {
    if (each.kind === "array") return `[${each.items.map(flat).join(", ")}]`;
    if (each.kind !== "object") return word(each);
    return `{${each.members.map(({ key, node: inner }) => `${JSON.stringify(key)}: ${flat(inner)}`).join(", ")}}`;
  };
  return nested(node, indent, "    ", flat, word);
}

const PYTHON = { true: "True", false: "False", null: "None" };

/** Spell one that has no parts. */
export function scalar(node) {
  return node.kind === "number" ? number(node.raw) : JSON.stringify(node.value);
}

function nested(node, indent, step, flat, word) {
  const parts = node.members ?? node.items;
  if (!parts) return word(node);
  const oneLine = flat(node);
  const isFlat = !parts.some((part) => (part.node ?? part).members?.length);
  if (!parts.length || (isFlat && indent && indent.length + oneLine.length <= LINE)) return oneLine;
  const deeper = indent + step;
  const spell = (inner) => nested(inner, deeper, step, flat, word);
  const lines = node.members
    ? node.members.map(({ key, node: inner }) => `${JSON.stringify(key)}: ${spell(inner)}`)
    : node.items.map(spell);
  const [open, close] = node.members ? "{}" : "[]";
  return `${open}\n${lines.map((line) => deeper + line).join(",\n")}\n${indent}${close}`;
}

/** Spell a number as Python does: integers as they are, others with the fewest digits. */
function number(raw) {
  if (!/[.eE]/.test(raw)) return raw === "-0" ? "0" : raw;
  const value = Number(raw);
  if (!Number.isFinite(value)) return raw;
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const [mantissa, exponent] = Math.abs(value).toExponential().split("e");
  const [digits, power] = [mantissa.replace(".", ""), Number(exponent)];
  if (power < -4 || power >= 16) {
    return `${sign}${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${digits}`;
  const padded = digits.padEnd(power + 2, "0");
  return `${sign}${padded.slice(0, power + 1)}.${padded.slice(power + 1)}`;
}
