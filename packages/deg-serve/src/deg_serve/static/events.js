// Server-sent events: the bytes of a response cut into events.

/** Yield `{event, data}` of each event in a stream of bytes. */
export async function* eventsOf(stream) {
  let block = { event: "message", data: [] };
  for await (const line of linesOf(stream)) {
    if (line === "") {
      if (block.data.length) yield { event: block.event, data: block.data.join("\n") };
      block = { event: "message", data: [] };
      continue;
    }
    const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line);
    if (name === "event") block.event = value;
    if (name === "data") block.data.push(value);
  }
}

async function* linesOf(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop();
      yield* lines;
    }
  } finally {
    // whoever stops early wants no more of it
    reader.cancel().catch(() => {});
  }
  if (rest) yield rest;
}
