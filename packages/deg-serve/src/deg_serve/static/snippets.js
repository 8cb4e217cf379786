// Snippets: the request as a command and as a program. The key stays out of both.

import { pretty, python } from "./spelling.js";

/** Return the request as a command for a shell. */
export function asCurl({ url, contextNode, schemaNode, options, hasKey, stream }) {
  const body = { kind: "object", members: [] };
  body.members.push({ key: "context", node: contextNode }, { key: "schema", node: schemaNode });
  if (options.members.length) body.members.push({ key: "options", node: options });
  const lines = [
    `curl ${stream ? "-N " : ""}${quoted(`${url}v1/fill`)} \\`,
    "  -H 'content-type: application/json' \\",
    ...(stream ? ["  -H 'accept: text/event-stream' \\"] : []),
    ...(hasKey ? ['  -H "authorization: Bearer $DEG_API_KEY" \\'] : []),
    // no line of a JSON text can be this word alone
    "  --data-binary @- <<'JSON'",
    pretty(body),
    "JSON",
  ];
  return `${lines.join("\n")}\n`;
}

/** Return the request as a program that uses deg_client. */
export function asPython({ url, contextNode, schemaNode, options, hasKey }) {
  const extra = options.members.map(({ key, node }) => `, ${key}=${python(node)}`).join("");
  const base = JSON.stringify(url.replace(/\/$/, ""));
  const lines = [
    "from deg_client import Client",
    "",
    `context = ${contextNode.kind === "string" ? pythonText(contextNode.value) : python(contextNode)}`,
    "",
    `schema = ${python(schemaNode)}`,
    "",
    ...(hasKey ? ["# the key is read from DEG_API_KEY"] : []),
    `with Client(${base}) as deg:`,
    `    response = deg.fill(context, schema${extra})`,
    "    print(response.value)",
    "    for pointer, meta in response.meta.items():",
    "        print(pointer, meta)",
  ];
  return `${lines.join("\n")}\n`;
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** A text of several lines is written a line a row, which Python joins. */
function pythonText(text) {
  const lines = text.match(/[^\n]*\n|[^\n]+/g) ?? [""];
  if (lines.length === 1) return JSON.stringify(text);
  return `(\n${lines.map((line) => `    ${JSON.stringify(line)}`).join("\n")}\n)`;
}
