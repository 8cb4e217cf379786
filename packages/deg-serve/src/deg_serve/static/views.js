// What is open: the document and the schema, and which of its views the document shows.

import { byId } from "./dom.js";
import { drawSnippet } from "./copying.js";
import { showDocumentState, showSchemaState } from "./panels.js";
import { clearProblems } from "./problems.js";
import { showTab, shownTab } from "./tabs.js";

const sorts = document.getElementsByName("sort");
const views = document.getElementsByName("view");

/** Show the document as it is written (`edit`), or as it was read (`marked`). */
export function showView(name) {
  if (name === "marked") views[1].disabled = false;
  for (const view of views) view.checked = view.value === name;
  byId("document").hidden = name !== "edit";
  byId("marked").hidden = name !== "marked";
}

/** Open a document. */
export function setDocument(text, isJson) {
  byId("document").value = text;
  sorts[isJson ? 1 : 0].checked = true;
  showView("edit");
  changedDocument();
}

/** Open a schema. */
export function setSchema(text) {
  byId("schema").value = text;
  showTab("schema");
  changedSchema();
}

/** Tell how things stand after a change of the document. */
export function changedDocument() {
  showDocumentState();
  if (shownTab() === "request") drawSnippet();
}

/** Tell how things stand after a change of the schema. */
export function changedSchema() {
  clearProblems();
  showSchemaState();
}

/** Listen to what is written, and to the choices of the document. */
export function listenToViews() {
  byId("document").addEventListener("input", changedDocument);
  byId("schema").addEventListener("input", changedSchema);
  byId("document").addEventListener("reveal", () => showView("edit"));
  byId("schema").addEventListener("reveal", () => showTab("schema"));
  for (const sort of sorts) sort.addEventListener("change", changedDocument);
  for (const view of views) view.addEventListener("change", () => showView(view.value));
}
