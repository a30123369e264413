// The extension's parts against the server itself, which BROKER names.

import assert from "node:assert/strict";
import { test } from "node:test";

import { BRANCH_SCHEME, refusal } from "../src/core/protocol.js";
import { BROKER, Client, workspace } from "./client.js";
import { text } from "./support.js";

const CART = "def total(prices):\n    return sum(prices)\n";
const BROKEN = CART.replace("sum(prices)", "sum(price)");

const options = { skip: BROKER ? false : "BROKER names no program", timeout: 120_000 };

async function withClient(files: Record<string, string>, work: (client: Client) => Promise<void>): Promise<void> {
  const client = await Client.start([await workspace(files)]);
  try {
    await work(client);
  } finally {
    assert.equal(await client.stop(), 0, "the server ends as it was asked to");
  }
}

async function tree(client: Client): Promise<string> {
  const lines: string[] = [];
  for (const root of client.tree.roots(client.folders)) {
    lines.push(client.tree.item(root).label);
    for (const node of await client.tree.children(root)) {
      const { label, context } = client.tree.item(node);
      lines.push(`  ${context} ${label}`);
    }
  }
  return text(lines);
}

test("the server offers what the extension asks for", options, async () => {
  await withClient({}, async ({ result }) => {
    const { executeCommandProvider, workspace: offered, codeActionProvider } = result.capabilities;
    const ours = ["list", "fork", "diff", "check", "commit", "discard", "rebase"].map((it) => `broker.${it}Branch`);
    for (const name of [...ours.slice(1), "broker.listBranches", "broker.runInBranch"]) {
      assert.ok(executeCommandProvider?.commands.includes(name), name);
    }
    assert.deepEqual(offered?.textDocumentContent?.schemes, [BRANCH_SCHEME]);
    assert.equal(offered?.workspaceFolders?.supported, true);
    assert.ok(codeActionProvider);
    assert.equal(result.serverInfo?.name, "broker");
  });
});

test("findings are of the text in the editor", options, async () => {
  await withClient({ "cart.py": CART }, async (client) => {
    const uri = client.uri("cart.py");
    await client.open(uri, BROKEN);
    const found = await client.diagnostics(uri);
    assert.deepEqual(found.map((it) => `${it.source}/${it.code} ${it.message}`), ["python/F821 Undefined name `price`"]);
  });
});

test("a branch shows in the view, and what changes it", options, async () => {
  await withClient({ "cart.py": CART }, async (client) => {
    const forked = await client.broker.forkBranch({ workspace: client.uri(""), name: "fix" });
    await client.until("notification of the fork", () => client.branches.get(forked.id) !== undefined);
    assert.equal(await tree(client), "fix");
    await client.edit("fix", "cart.py", BROKEN);
    await client.until("notification of the edit", () => client.branches.get(forked.id)?.changedPaths === 1);
    assert.equal(await tree(client), text(["fix", "  file.modified cart.py"]));
    await client.broker.discardBranch(forked.id);
    await client.until("notification of the end", () => client.branches.size === 0);
    assert.deepEqual([...new Set(client.events.map((it) => it.kind))], ["forked", "edited", "discarded"]);
  });
});

test("documents of branches are the branch's texts, and change with it", options, async () => {
  await withClient({ "cart.py": CART }, async (client) => {
    const { id } = await client.broker.forkBranch({ workspace: client.uri(""), name: "fix" });
    await client.edit("fix", "cart.py", BROKEN);
    const [change] = (await client.broker.diffBranch(id)).changes;
    assert.ok(change);
    assert.deepEqual([change.path, change.kind, change.uri], ["cart.py", "modified", client.uri("cart.py")]);
    const uri = change.branchUri;
    const content = () => client.request<{ text: string }>("workspace/textDocumentContent", { uri });
    assert.equal((await content()).text, BROKEN);

    const refreshed: (string | undefined)[] = [];
    client.answer("workspace/textDocumentContent/refresh", (it) => refreshed.push(it.uri));
    await client.open(uri, BROKEN);
    assert.equal((await client.diagnostics(uri)).length, 1);
    await client.edit("fix", "cart.py", CART.replaceAll("prices", "items"));
    await client.until("refresh", () => refreshed.includes(uri));
    assert.match((await content()).text, /items/);
  });
});

test("a check of a branch finds what the branch brings", options, async () => {
  await withClient({ "cart.py": CART }, async (client) => {
    const branch = await client.broker.forkBranch({ workspace: client.uri(""), name: "fix" });
    await client.edit("fix", "cart.py", BROKEN);
    const result = await client.broker.checkBranch(branch.id);
    assert.equal(result.complete, true);
    assert.deepEqual(result.incomplete, []);
    const [found, ...others] = result.findings;
    assert.ok(found && others.length === 0);
    assert.deepEqual([found.path, found.change, found.diagnostic.code], ["cart.py", "new", "F821"]);
    assert.deepEqual(found.diagnostic.range.start, { line: 1, character: 15 });
    // The view shows it below the file, which has the same document.
    const known = client.branches.get(branch.id) ?? branch;
    client.checks.set(known, result);
    const [node] = client.tree.roots(client.folders);
    assert.ok(node);
    const files = (await client.tree.children(node)).map((it) => client.tree.item(it));
    assert.deepEqual(files.map((it) => it.description), ["1 error"]);
  });
});

test("a commit writes the branch to the disk", options, async () => {
  await withClient({ "cart.py": CART }, async (client) => {
    const { id } = await client.broker.forkBranch({ workspace: client.uri(""), name: "fix" });
    await client.edit("fix", "cart.py", BROKEN);
    const planned = await client.broker.commitBranch(id, { dryRun: true });
    assert.deepEqual(planned.changes.map((it) => it.path), ["cart.py"]);
    assert.equal(await client.read("cart.py"), CART);
    const done = await client.broker.commitBranch(id);
    assert.deepEqual([done.changes.map((it) => it.path), done.left, done.notes], [["cart.py"], [], []]);
    assert.equal(await client.read("cart.py"), BROKEN);
    await client.until("notification of the commit", () => client.events.some((it) => it.kind === "committed"));
  });
});

test("a conflict names its files, and can be rebased or overwritten", options, async () => {
  await withClient({ "cart.py": CART, "shop.py": CART }, async (client) => {
    const { id } = await client.broker.forkBranch({ workspace: client.uri(""), name: "fix" });
    await client.edit("fix", "cart.py", BROKEN);
    await client.write("cart.py", CART.replace("return ", "return 2 * "));
    const refused = await client.broker.commitBranch(id, { dryRun: true }).then(() => undefined, refusal);
    assert.deepEqual([refused?.reason, refused?.paths], ["CONFLICT", ["cart.py"]]);
    const unmerged = await client.broker.rebaseBranch(id).then(() => undefined, refusal);
    assert.deepEqual([unmerged?.reason, unmerged?.paths], ["CONFLICT", ["cart.py"]]);
    const done = await client.broker.commitBranch(id, { force: ["cart.py"] });
    assert.equal(done.changes.length, 1);
    assert.equal(await client.read("cart.py"), BROKEN);
  });
});

test("a rebase merges what goes together", options, async () => {
  const lines = Array.from({ length: 9 }, (_, it) => `a${it} = ${it}\n`);
  await withClient({ "cart.py": lines.join("") }, async (client) => {
    const { id } = await client.broker.forkBranch({ workspace: client.uri(""), name: "fix" });
    await client.edit("fix", "cart.py", lines.join("").replace("a0 = 0", "a0 = 10"));
    await client.write("cart.py", lines.join("").replace("a8 = 8", "a8 = 18"));
    const rebased = await client.broker.rebaseBranch(id);
    assert.deepEqual([rebased.merged, rebased.conflicts], [["cart.py"], []]);
    await client.broker.commitBranch(id);
    assert.match(await client.read("cart.py"), /^a0 = 10\n[^]*a8 = 18\n$/);
  });
});

test("a command runs on the branch's files", options, async () => {
  await withClient({ "cart.py": CART }, async (client) => {
    const { id } = await client.broker.forkBranch({ workspace: client.uri(""), name: "fix" });
    await client.edit("fix", "cart.py", BROKEN);
    const ran = await client.broker.runInBranch(id, ["sh", "-c", "cat cart.py; exit 3"]);
    assert.deepEqual([ran.exitCode, ran.output, ran.truncated], [3, BROKEN, false]);
  });
});

test("a refusal has a reason, and a wrong argument is one", options, async () => {
  await withClient({ "cart.py": CART }, async (client) => {
    const unknown = await client.broker.diffBranch("no-such-branch").then(() => undefined, (it) => it);
    assert.equal(unknown?.code, -32803);
    assert.match(refusal(unknown).reason ?? "", /NOT_FOUND/);
    const wrong = { command: "broker.diffBranch", arguments: [{ branch: 7 }] };
    const invalid = await client.request("workspace/executeCommand", wrong).then(() => undefined, (it) => it);
    assert.equal(invalid?.code, -32602);
  });
});

test("each folder has its own branches", options, async () => {
  const folders = [await workspace({ "a.py": CART }), await workspace({ "b.py": CART })];
  const client = await Client.start(folders);
  await client.broker.forkBranch({ workspace: client.uri("", folders[0]), name: "one" });
  await client.broker.forkBranch({ workspace: client.uri("", folders[1]), name: "two" });
  await client.until("two notifications", () => client.branches.size === 2);
  const first = client.branches.list().find((it) => it.name === "one");
  assert.deepEqual((await client.broker.listBranches(first?.workspace)).map((it) => it.name), ["one"]);
  assert.equal(client.tree.roots(folders).length, 2);
  assert.equal(await client.stop(), 0);
});
