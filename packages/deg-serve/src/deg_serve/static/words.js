// Words: what the page calls the parts of an answer.

export const MODES = {
  "decide.choice": "choice",
  "decide.score": "score",
  "decide.noul": "yes-no",
  "extract.number": "number",
  "extract.date": "date",
  "extract.span": "text",
  generate: "written",
  array: "list",
};

const REASONS = {
  not_found: "nothing in the document says it",
  unparsable: "what stands there cannot be read as this type",
};

/** Say why there is no value. */
export function reason({ null_reason: name, null_detail: detail }) {
  const words = Object.hasOwn(REASONS, name) ? REASONS[name] : `what stands there breaks “${name}”`;
  return detail ? `${words} (${String(detail).replaceAll("_", " ")})` : words;
}

/** Word a probability; only certainty is worded as 0 or 100 %. */
export function percent(probability) {
  if (probability > 0 && probability < 0.01) return "< 1 %";
  if (probability > 0.99 && probability < 1) return "> 99 %";
  return `${Math.round(probability * 100)} %`;
}

/** Say how many there are of something. */
export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** Say a time as long as a reader would. */
export function duration(milliseconds) {
  if (milliseconds >= 10_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${Math.round(milliseconds).toLocaleString("en")} ms`;
}
