// The document as the model reads it, in pieces that know which code points of it they are.

import { compact, scalar } from "./spelling.js";

/** Return the number of code points of a text. */
export function countCodePoints(text) {
  let count = text.length;
  // a pair of surrogates is two of JavaScript's characters, and one code point
  for (const _ of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) count -= 1;
  return count;
}

/** Return a text document as one piece. */
export function textPieces(text) {
  return [{ text, start: 0, end: countCodePoints(text) }];
}

/** Return a JSON document over several lines, each piece with its place in the rendered one. */
export function jsonPieces(node) {
  const pieces = [];
  let at = 0;
  const put = (text, shown = text) => {
    const end = at + countCodePoints(text);
    pieces.push({ text: shown, start: at, end, whole: shown !== text });
    at = end;
  };
  const walk = (inner, indent) => {
    const parts = inner.members ?? inner.items;
    if (!parts) return put(scalar(inner));
    if (!parts.length) return put(compact(inner));
    const deeper = `${indent}  `;
    put(inner.members ? "{" : "[");
    put("", `\n${deeper}`);
    parts.forEach((part, index) => {
      if (index) {
        put(",");
        put(" ", `\n${deeper}`);
      }
      if (inner.members) put(`${JSON.stringify(part.key)}: `);
      walk(part.node ?? part, deeper);
    });
    put("", `\n${indent}`);
    put(inner.members ? "}" : "]");
    return undefined;
  };
  walk(node, "");
  return pieces;
}

/** Return the code points from `start` to `end` of the rendered document. */
export function excerpt(pieces, start, end) {
  const inside = pieces.filter((piece) => piece.start < end && start < piece.end);
  const clipped = (piece) => cut(piece, [Math.max(start, piece.start), Math.min(end, piece.end)]);
  return inside.flatMap(clipped).join("");
}

/** Return the texts of a piece between each of some rising bounds and the next. */
export function cut(piece, bounds) {
  if (piece.whole) return [piece.text];
  const isPlain = piece.end - piece.start === piece.text.length;
  let [unit, codePoint] = [0, piece.start];
  const units = bounds.map((bound) => {
    if (isPlain) return bound - piece.start;
    // each bound is walked to from the one before it, so that a long text is walked through once
    for (; codePoint < bound; codePoint += 1) unit += piece.text.codePointAt(unit) > 0xffff ? 2 : 1;
    return unit;
  });
  return units.slice(1).map((end, index) => piece.text.slice(units[index], end));
}
