// A run: the request is sent, and what comes back is drawn as it comes.

import { drawAnswer } from "./answer.js";
import { ask, Failed } from "./ask.js";
import { announce, byId } from "./dom.js";
import { Findings } from "./findings.js";
import { markedDocument } from "./marks.js";
import { isStreamed, readOptions } from "./options.js";
import { readDocument, readSchema, showWrong } from "./panels.js";
import { clearProblems, showProblems } from "./problems.js";
import { compact } from "./spelling.js";
import { showTab } from "./tabs.js";
import { showView } from "./views.js";
import { duration } from "./words.js";

let running;

/** Send the request, or stop the one that runs. */
export async function run() {
  if (running) return running.abort();
  const [context, schema] = [readDocument(), readSchema()];
  if (showWrong(byId("document"), context)) return announce(`The document: ${context.problem}`, "error");
  if (showWrong(byId("schema"), schema)) return announce(`The schema: ${schema.problem}`, "error");
  running = new AbortController();
  clearProblems();
  setRunning(true);
  try {
    await fill(context, schema);
  } catch (error) {
    settle();
    if (error.name === "AbortError") return announce("Stopped");
    if (!(error instanceof Failed)) throw error;
    tell(error, context, schema);
  } finally {
    running = undefined;
    setRunning(false);
  }
  return undefined;
}

async function fill(context, schema) {
  const findings = new Findings(schema.node, context.pieces);
  const start = performance.now();
  let milliseconds;
  const drawing = frames(() => {
    // marks first: a card that has the focus lights its own as it gets it back
    byId("marked").replaceChildren(...markedDocument(context.pieces, findings.spans()));
    drawAnswer(findings, milliseconds);
  });
  announce("Reading the document …");
  showView("marked");
  showTab("answer");
  byId("marked").scrollTop = 0;
  drawing.now();
  const settings = { key: byId("key").value.trim(), stream: isStreamed(), signal: running.signal };
  for await (const happening of ask(bodyOf(context, schema), settings)) {
    if (happening.kind === "field") findings.answer(happening.pointer, happening.meta, happening.value);
    else if (happening.kind === "text") findings.write(happening.pointer, happening.text);
    else {
      milliseconds = performance.now() - start;
      findings.finish(happening.response);
    }
    drawing.soon();
  }
  // whoever hears that it is filled finds it so
  drawing.now();
  announce(`Filled in ${duration(milliseconds)}`, "good");
}

/** The parts are sent as they are spelled, so that no number and no repeated name is lost. */
function bodyOf(context, schema) {
  const options = readOptions();
  const parts = [`"context":${context.raw}`, `"schema":${schema.raw}`];
  if (options.members.length) parts.push(`"options":${compact(options)}`);
  return `{${parts.join(",")}}`;
}

/** Draw at the next frame, however often it is asked for before, or now and not once more. */
function frames(draw) {
  let frame;
  const now = () => {
    cancelAnimationFrame(frame);
    frame = undefined;
    draw();
  };
  const soon = () => {
    frame ??= requestAnimationFrame(now);
  };
  return { now, soon };
}

function tell({ problems, status, retryAfter, requestId }, context, schema) {
  const isText = context.node.kind === "string";
  const places = showProblems(problems, { schemaNode: schema.node, contextNode: isText ? undefined : context.node });
  if (places.has("schema")) showTab("schema");
  if (places.has("answer")) byId("no-answer").hidden = true;
  if (places.has("document") || !byId("marked").querySelector(".mark")) showView("edit");
  const [only] = places;
  const where = only === "answer" || places.size > 1 ? "" : `The ${only}: `;
  const what = problems.length > 1 ? `${problems.length} problems` : problems[0].msg;
  const wait = retryAfter ? `, try again in ${retryAfter} s` : "";
  const id = status >= 500 && requestId ? ` (request ${requestId})` : "";
  announce(`${where}${what}${wait}${id}`, "error");
  if (status === 401 || status === 403) byId("key").focus();
}

/** What waits will not be answered any more; what was answered holds all the same. */
function settle() {
  requestAnimationFrame(() => {
    for (const card of document.querySelectorAll(".waiting")) card.remove();
    byId("cards").setAttribute("aria-busy", "false");
  });
}

function setRunning(isRunning) {
  const button = byId("run");
  button.firstChild.data = isRunning ? "Stop " : "Run ";
  button.classList.toggle("running", isRunning);
}
