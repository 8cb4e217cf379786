// The options of a request: only those that were changed are sent.

import { byId } from "./dom.js";
import { parseJson } from "./json.js";

/** Return the options as an object node. */
export function readOptions() {
  const inputs = [...byId("options").querySelectorAll("[name]")].filter((input) => input.value.trim());
  const members = inputs.map((input) => {
    const text = input.value.trim();
    return { key: input.name, node: parseJson("text" in input.dataset ? JSON.stringify(text) : text) };
  });
  return { kind: "object", members };
}

/** Return whether the answer comes field by field. */
export const isStreamed = () => byId("stream").checked;

/** Close the sheet when a reader goes on elsewhere, or presses Escape. */
export function listenToOptions() {
  const options = byId("options");
  document.addEventListener("pointerdown", (event) => {
    if (!options.contains(event.target)) options.open = false;
  });
  options.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !options.contains(event.relatedTarget)) options.open = false;
  });
  options.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    options.open = false;
    options.querySelector("summary").focus();
  });
}
