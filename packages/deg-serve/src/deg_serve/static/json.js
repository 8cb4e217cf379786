// JSON texts as trees that remember where each part stands and how each number is spelled.

const MAX_DEPTH = 400;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const BLANKS = /[ \t\n\r]*/y;
const LITERALS = { true: true, false: false, null: null };

export class JsonError extends Error {
  constructor(message, at) {
    super(message);
    this.at = at;
  }
}

/** Read a text; objects are `{kind, members: [{key, node}]}`, numbers keep their `raw` spelling. */
export function parseJson(text) {
  const reader = new Reader(text);
  const node = reader.value(0);
  reader.blanks();
  if (reader.at < text.length) reader.fail("nothing may follow the value");
  return node;
}

/** Return the member of an object node, or nothing; of repeated ones the last, as JSON has it. */
export function member(node, key) {
  if (node?.kind !== "object") return undefined;
  return node.members.findLast((each) => each.key === key)?.node;
}

/** Turn a node into plain values; numbers lose their spelling. */
export function toValue(node) {
  if (node.kind === "array") return node.items.map(toValue);
  if (node.kind === "number") return Number(node.raw);
  if (node.kind !== "object") return node.value;
  const value = Object.create(null);
  for (const { key, node: inner } of node.members) value[key] = toValue(inner);
  return value;
}

/** Return the line and the column of an offset, both from 1. */
export function lineAndColumn(text, at) {
  const before = text.slice(0, at);
  return { line: before.split("\n").length, column: at - before.lastIndexOf("\n") };
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  fail(message) {
    throw new JsonError(this.at >= this.text.length ? "the text ends too early" : message, this.at);
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  blanks() {
    this.match(BLANKS);
  }

  takes(character) {
    this.blanks();
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  value(depth) {
    if (depth > MAX_DEPTH) this.fail("this nests too deep");
    this.blanks();
    const start = this.at;
    const node = this.part(depth);
    return { ...node, start, end: this.at };
  }

  part(depth) {
    if (this.takes("{")) return { kind: "object", members: this.members(depth) };
    if (this.takes("[")) return { kind: "array", items: this.items(depth) };
    if (this.text[this.at] === '"') return { kind: "string", value: this.string() };
    const raw = this.match(NUMBER);
    if (raw !== undefined) return { kind: "number", raw };
    for (const [word, value] of Object.entries(LITERALS)) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return { kind: "literal", value };
      }
    }
    return this.fail("a value is expected here");
  }

  string() {
    const raw = this.match(STRING);
    if (raw === undefined) this.fail("this string does not end, or holds what must be escaped");
    return JSON.parse(raw);
  }

  members(depth) {
    const members = [];
    if (this.takes("}")) return members;
    do {
      this.blanks();
      const start = this.at;
      if (this.text[this.at] !== '"') this.fail("a name in double quotes is expected here");
      const key = this.string();
      if (!this.takes(":")) this.fail("a colon is expected here");
      members.push({ key, start, node: this.value(depth + 1) });
    } while (this.takes(","));
    if (!this.takes("}")) this.fail("a comma or } is expected here");
    return members;
  }

  items(depth) {
    const items = [];
    if (this.takes("]")) return items;
    do items.push(this.value(depth + 1));
    while (this.takes(","));
    if (!this.takes("]")) this.fail("a comma or ] is expected here");
    return items;
  }
}
