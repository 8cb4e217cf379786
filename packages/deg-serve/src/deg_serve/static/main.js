// The page: everything that listens is set up here, in the order of the page.

import { listenToBuilder } from "./builder.js";
import { drawSnippet, listenToCopying } from "./copying.js";
import { byId } from "./dom.js";
import { takeFiles } from "./files.js";
import { listExamples, showModel } from "./opening.js";
import { listenToOptions } from "./options.js";
import { readSchema, showDocumentState, showSchemaState, showWrong } from "./panels.js";
import { linkMarksAndCards } from "./pointing.js";
import { run } from "./running.js";
import { pretty } from "./spelling.js";
import { listenToTabs } from "./tabs.js";
import { changedSchema, listenToViews, setDocument, setSchema } from "./views.js";

function runWithKeys(event) {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat) return;
  event.preventDefault();
  run();
}

function tidy() {
  const { node, ...wrong } = readSchema();
  if (node) setSchema(pretty(node));
  else showWrong(byId("schema"), wrong);
}

byId("run").addEventListener("click", run);
document.addEventListener("keydown", runWithKeys);
byId("tidy").addEventListener("click", tidy);
listenToOptions();
listenToViews();
takeFiles(byId("document-file"), byId("document-panel"), (text, name) => setDocument(text, /\.json$/i.test(name)));
takeFiles(byId("schema-file"), byId("side"), setSchema);
listenToTabs((name) => name === "request" && drawSnippet());
listenToBuilder(byId("schema"), changedSchema);
listenToCopying();
linkMarksAndCards(byId("marked"), byId("cards"));

showDocumentState();
showSchemaState();
showModel();
listExamples();
