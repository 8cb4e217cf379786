// Marks: the document cut where spans begin and end, each stretch a link to the fields it answers.

import { cut } from "./context.js";
import { make } from "./dom.js";

/** Return the nodes of a document; `spans` is a list of `{number, hue, name, span}`. */
export function markedDocument(pieces, spans) {
  const shortestFirst = [...spans].sort((a, b) => length(a) - length(b));
  const bounds = [...new Set(spans.flatMap(({ span }) => span))].sort((a, b) => a - b);
  return pieces.flatMap((piece) => {
    const inner = piece.whole ? [] : bounds.filter((at) => piece.start < at && at < piece.end);
    const cuts = [piece.start, ...inner, piece.end];
    return cut(piece, cuts).map((text, index) => {
      const owners = shortestFirst.filter(({ span }) => covers(span, cuts[index], cuts[index + 1]));
      return owners.length ? mark(text, owners) : document.createTextNode(text);
    });
  });
}

const length = ({ span }) => span[1] - span[0];

function covers([from, to], start, end) {
  // what only the eye needs, such as a line break between JSON members, has no length
  return start === end ? from < start && end < to : from <= start && end <= to;
}

function mark(text, owners) {
  const names = owners.map((owner) => owner.name).join(", ");
  const numbers = owners.map((owner) => owner.number).join(" ");
  const href = `#field-${owners[0].number}`;
  const link = make("a", { class: "mark", href, "data-fields": numbers, title: names }, text);
  link.style.setProperty("--hue", owners[0].hue);
  if (owners.length > 1) link.style.background = bands(owners);
  return link;
}

/** A stretch that several spans share has a band of colour for each. */
function bands(owners) {
  const share = 100 / owners.length;
  const stops = owners.map(
    ({ hue }, place) => `oklch(var(--tint) ${hue}) ${place * share}% ${(place + 1) * share}%`,
  );
  return `linear-gradient(${stops.join(",")})`;
}
