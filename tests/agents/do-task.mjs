// Does the task of `task.json` with the official TypeScript SDK.
//     node do-task.mjs TASK BROKER FOLDER

import assert from "node:assert/strict";
import fs from "node:fs";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [task, broker, folder] = process.argv.slice(2);

async function step(client, { tool, arguments: given, expect }) {
  const result = await client.callTool({ name: tool, arguments: given });
  const text = result.content.map((it) => it.text).join("\n");
  assert.ok(!result.isError, `${tool}: ${text}`);
  for (const [name, wanted] of Object.entries(expect)) {
    holds(result.structuredContent[name], wanted, `${tool}: ${name}\n${text}`);
  }
}

// Of an object the fields that are wanted, of anything else all.
function holds(found, wanted, what) {
  if (typeof wanted !== "object" || Array.isArray(wanted)) return assert.deepEqual(found, wanted, what);
  for (const [name, inner] of Object.entries(wanted)) holds(found?.[name], inner, `${what}.${name}`);
}

const client = new Client({ name: "test", version: "1" });
// The SDK passes on few variables by itself, and none of Broker's.
await client.connect(new StdioClientTransport({ command: broker, args: ["agent", "mcp", "--workspace", folder], env: process.env }));
// Once the tools are listed, the SDK holds each result against the tool's output schema.
await client.listTools();
for (const it of JSON.parse(fs.readFileSync(task, "utf8"))) await step(client, it);
await client.close();
