// Asking the server: one request, and what comes back of it as a sequence of happenings.

import { eventsOf } from "./events.js";
import { JsonError, member, parseJson, toValue } from "./json.js";

/** A request that was not answered; `problems` are `{loc, msg}`. */
export class Failed extends Error {
  constructor(problems, { status, requestId, retryAfter } = {}) {
    super(problems[0]?.msg ?? "no reason was given");
    Object.assign(this, { problems, status, requestId, retryAfter });
  }
}

/** Post a body to /v1/fill; yield fields and texts as they come, and the response at last. */
export async function* ask(body, { key, stream, signal }) {
  const response = await send(body, { key, stream, signal });
  const about = {
    status: response.status,
    requestId: response.headers.get("x-request-id"),
    retryAfter: response.headers.get("retry-after"),
  };
  if (!response.ok) throw new Failed(problemsIn(await response.text(), response.status), about);
  if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
    yield { kind: "response", response: read(await response.text(), about) };
    return;
  }
  yield* happenings(response.body, about);
}

async function* happenings(body, about) {
  try {
    for await (const { event, data } of eventsOf(body)) {
      if (event === "error") throw new Failed(problemsIn(data, about.status), { ...about, status: undefined });
      const node = read(data, about);
      yield event === "response" ? { kind: event, response: node } : happening(event, node);
      if (event === "response") return;
    }
  } catch (error) {
    if (error instanceof Failed || error.name === "AbortError") throw error;
    // the connection broke
  }
  throw new Failed([{ loc: "", msg: "the stream ended before the answer was whole" }], about);
}

function happening(kind, node) {
  const pointer = member(node, "pointer").value;
  if (kind === "text") return { kind, pointer, text: member(node, "text").value };
  return { kind, pointer, meta: toValue(member(node, "meta")), value: member(node, "value") };
}

async function send(body, { key, stream, signal }) {
  const headers = { "content-type": "application/json", accept: stream ? "text/event-stream" : "application/json" };
  if (key) headers.authorization = `Bearer ${key}`;
  try {
    return await fetch("v1/fill", { method: "POST", headers, body, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    if (error instanceof TypeError && key && /[^\x21-\x7e]/.test(key)) {
      throw new Failed([{ loc: "/key", msg: "the key holds a character that cannot be sent" }]);
    }
    throw new Failed([{ loc: "", msg: "the server does not answer; is it running?" }]);
  }
}

function read(text, about) {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new Failed([{ loc: "", msg: "the server sent something that is not JSON" }], about);
  }
}

function problemsIn(text, status) {
  try {
    const { detail } = JSON.parse(text);
    if (Array.isArray(detail) && detail.length) {
      return detail.map(({ loc, msg }) => ({ loc: String(loc ?? ""), msg: String(msg) }));
    }
  } catch {
    // a proxy on the way answers in its own words
  }
  return [{ loc: "", msg: `the server answered with status ${status}` }];
}
