// Gives the conformance suite, which asks for Node.js 22, the one function that Node.js 20 lacks: `fs.globSync`, which no
// scenario calls.

import fs from "node:fs";
import { register } from "node:module";

const shim = `export * from "node:fs"; export { default } from "node:fs"; export const globSync = () => [];`;
const hooks = `export function resolve(name, context, next) {
  if (name !== "fs" || !context.parentURL?.endsWith("/dist/index.js")) return next(name, context);
  return { url: ${JSON.stringify(`data:text/javascript,${encodeURIComponent(shim)}`)}, shortCircuit: true };
}`;

if (!fs.globSync) register(`data:text/javascript,${encodeURIComponent(hooks)}`);
