// JSON Pointers: the addresses that errors and answered fields carry.

import { member } from "./json.js";

/** Return the tokens of a pointer, unescaped. */
export function tokensOf(pointer) {
  // the order matters: "~1" first, or the "~01" of a "~1" would be unescaped twice
  const tokens = pointer.split("/").slice(1);
  return tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Return the pointer of some tokens. */
export function pointerOf(tokens) {
  return tokens.map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Return the node that a pointer leads to, or nothing. */
export function nodeAt(node, tokens) {
  return tokens.reduce(step, node);
}

/** Return the stretch of text that a pointer means: as far along it as there is something. */
export function rangeAt(node, tokens) {
  let range = [node.start, Math.min(node.end, node.start + 1)];
  for (const token of tokens) {
    const named = node.kind === "object" && node.members.findLast((each) => each.key === token);
    node = step(node, token);
    if (!node) return range;
    range = [named ? named.start : node.start, node.end];
  }
  return range;
}

function step(node, token) {
  return node?.kind === "array" ? node.items[token] : member(node, token);
}
