// What the page begins with: the name of the model, and the examples.

import { announce, byId, make } from "./dom.js";
import { setDocument, setSchema } from "./views.js";

/** Ask the server which model it has. */
export async function showModel() {
  const place = byId("model");
  try {
    const health = await (await fetch("health")).json();
    place.textContent = health.model ?? "a server without a model";
    place.dataset.state = health.status === "ok" ? "good" : "bad";
  } catch {
    place.textContent = "the server does not answer";
    place.dataset.state = "bad";
  }
}

/** List the examples, and open the first where nothing is open yet. */
export async function listExamples() {
  const examples = await (await fetch("static/examples.json")).json();
  const choice = byId("example");
  choice.append(...examples.map(({ title }, index) => make("option", { value: index }, title)));
  const choose = () => {
    const example = examples[choice.value];
    if (!example) return;
    setDocument(example.document, example.sort === "json");
    setSchema(example.schema);
    announce(`${example.title} is open`);
  };
  choice.addEventListener("change", choose);
  if (byId("document").value || byId("schema").value) return;
  choice.value = "0";
  choose();
}
