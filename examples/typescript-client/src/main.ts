// A command line over `client.ts`: see README.md.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { Client, onBase, onBranch } from "./client.js";
import { connection } from "./connection.js";
import { isServiceError, problem } from "./errors.js";
import type { CheckResponse__Output } from "./generated/broker/v1/CheckResponse.js";
import type { QueryResponse__Output } from "./generated/broker/v1/QueryResponse.js";

const USAGE = `Usage: node dist/main.js [--tcp HOST:PORT] COMMAND

  open FOLDER                     serve a folder; prints the workspace's handle
  fork WORKSPACE [--name NAME]    fork the workspace's base; prints the branch's handle
  replace BRANCH PATH OLD NEW     replace a text that a file has once
  patch BRANCH FILE               apply a patch
  fix BRANCH [PATH…]              apply the safe fixes of what is found
  check BRANCH [PATH…]            check; exits with 1 if there are findings, with 2 if not all is known
        [--base]                    the handle is a workspace's: check its base
        [--new-only]                only what differs from the branch's parent
        [--dependents]              also what language servers say of files that import these
  references BRANCH PATH LINE COLUMN   print where a name is used in the branch
  rename BRANCH PATH LINE COLUMN NAME  rename what is at a place, in the branch
  diff BRANCH                     print what the branch changed
  commit BRANCH [--if-revision N] write the branch to the disk
  discard BRANCH                  forget the branch`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tcp: { type: "string" },
    name: { type: "string" },
    base: { type: "boolean" },
    "new-only": { type: "boolean" },
    dependents: { type: "boolean" },
    "if-revision": { type: "string" },
  },
});

async function run(client: Client): Promise<number> {
  const [command, ...rest] = positionals;
  const words = rest.slice();
  const next = () => words.shift() ?? fail(USAGE);
  switch (command) {
    case "open":
      console.log(await client.open(next()));
      return 0;
    case "fork":
      console.log(await client.fork(onBase(next()), values.name));
      return 0;
    case "replace":
      console.log("revision", await client.replace(next(), next(), next(), next()));
      return 0;
    case "patch":
      console.log("revision", await client.patch(next(), readFileSync(next(), "utf8")));
      return 0;
    case "fix":
      console.log("fixed", await client.fix(next(), words));
      return 0;
    case "check": {
      const handle = next();
      const target = values.base ? onBase(handle) : onBranch(handle);
      return report(client.check(target, words, values["new-only"], values.dependents));
    }
    case "references":
      return places(await client.references(next(), next(), Number(next()), Number(next())));
    case "rename":
      console.log("revision", await client.rename(next(), next(), Number(next()), Number(next()), next()));
      return 0;
    case "diff":
      process.stdout.write(await client.diff(next()));
      return 0;
    case "commit": {
      const revision = values["if-revision"] === undefined ? undefined : Number(values["if-revision"]);
      for (const it of await client.commit(next(), revision)) console.log(lower(it.kind, "CHANGE_KIND_"), it.path);
      return 0;
    }
    case "discard":
      await client.discard(next());
      return 0;
    default:
      return fail(USAGE);
  }
}

/** What the server does not see of the branch, it cannot find. */
function places({ items, partialReason }: QueryResponse__Output): number {
  for (const { location } of items) {
    const at = location!.range!.start!;
    console.log(`${location!.path}:${at.line}:${at.column}`);
  }
  if (partialReason) console.error(`there may be more: ${partialReason}`);
  return partialReason ? 2 : 0;
}

/** Prints findings as they come. No findings and no answer are different things. */
async function report(events: AsyncIterable<CheckResponse__Output>): Promise<number> {
  for await (const { findings, incomplete, summary } of events) {
    for (const it of findings?.findings ?? []) {
      const at = it.range!.start!;
      const fixed = it.change === "FINDING_CHANGE_FIXED" ? " (fixed)" : "";
      console.log(`${it.path}:${at.line}:${at.column}: ${it.code} ${it.message}${fixed}`);
    }
    if (incomplete) {
      const { path, linter, reason } = incomplete;
      console.error(`${path || "everything"}: ${linter || "every linter"}: ${reason}`);
    }
    if (summary) {
      const level = lower(summary.completeness, "COMPLETENESS_");
      console.log(`${summary.findings} findings in ${summary.files} files at revision ${summary.revision}, ${level}`);
      return level !== "complete" ? 2 : summary.findings > 0 ? 1 : 0;
    }
  }
  return 2;
}

function lower(name: string, prefix: string): string {
  return name.replace(prefix, "").toLowerCase();
}

function fail(message: string): never {
  throw new Error(message);
}

const client = new Client(connection(values.tcp));
try {
  process.exitCode = await run(client);
} catch (error) {
  process.exitCode = 2;
  if (isServiceError(error)) {
    const { code, reason, message, places } = problem(error);
    console.error(`error: ${[...new Set([code, reason])].join(" ")}: ${message}`);
    for (const place of places) console.error(`  ${place}`);
  } else {
    console.error(`error: ${error instanceof Error ? error.message : error}`);
  }
} finally {
  client.close();
}
