// Copying: the request as one would write it elsewhere.

import { announce, byId } from "./dom.js";
import { isStreamed, readOptions } from "./options.js";
import { readDocument, readSchema } from "./panels.js";
import { asCurl, asPython } from "./snippets.js";

const kinds = document.getElementsByName("snippet");

/** Draw the request, or say what keeps it from being one. */
export function drawSnippet() {
  const [context, schema] = [readDocument(), readSchema()];
  byId("copy").disabled = Boolean(context.problem ?? schema.problem);
  if (context.problem || schema.problem) {
    const [name, problem] = context.problem ? ["document", context.problem] : ["schema", schema.problem];
    byId("snippet").textContent = `The ${name}: ${problem}.`;
    return;
  }
  const spell = kinds[0].checked ? asCurl : asPython;
  byId("snippet").textContent = spell({
    url: new URL(".", document.baseURI).href,
    contextNode: context.node,
    schemaNode: schema.node,
    options: readOptions(),
    hasKey: Boolean(byId("key").value),
    stream: isStreamed(),
  });
}

/** Listen to the choice of a language and to the button. */
export function listenToCopying() {
  for (const kind of kinds) kind.addEventListener("change", drawSnippet);
  byId("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(byId("snippet").textContent);
      announce("The request is copied", "good");
    } catch {
      // without https a browser has no clipboard to write to
      getSelection().selectAllChildren(byId("snippet"));
      announce("The browser does not let the page copy: it is selected, press Ctrl+C");
    }
  });
}
