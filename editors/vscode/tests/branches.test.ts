import assert from "node:assert/strict";
import { test } from "node:test";

import type { Branch } from "../src/core/protocol.js";
import { branch, change, session } from "./support.js";

test("the newest branch is first, by workspace", async () => {
  const other = branch("else", { workspace: "file:///work/other", createdMs: 9 });
  const all = [branch("a", { createdMs: 1 }), branch("b", { createdMs: 2 }), other];
  const { branches } = session({ listBranches: () => all });
  await branches.load();
  assert.deepEqual(branches.list().map((it) => it.name), ["else", "b", "a"]);
  assert.deepEqual(branches.list("file:///work/other").map((it) => it.name), ["else"]);
  assert.deepEqual(branches.workspaces, ["file:///work/other", "file:///work/shop"]);
});

test("notifications keep the list up to date", async () => {
  const { branches } = session({ listBranches: () => [branch("a")] });
  const told: (string | undefined)[] = [];
  branches.onChange((id) => told.push(id));
  await branches.load();
  branches.apply({ kind: "forked", branch: branch("b", { createdMs: 5, revision: 0 }) });
  branches.apply({ kind: "edited", branch: branch("a", { revision: 2, changedPaths: 3 }) });
  branches.apply({ kind: "discarded", branch: branch("b") });
  assert.deepEqual(branches.list(), [branch("a", { revision: 2, changedPaths: 3 })]);
  assert.deepEqual(told, [undefined, "id-b", "id-a", "id-b"]);
});

test("an older notification changes nothing", async () => {
  const { branches } = session({ listBranches: () => [branch("a", { revision: 5 })] });
  await branches.load();
  branches.apply({ kind: "edited", branch: branch("a", { revision: 4 }) });
  assert.equal(branches.get("id-a")?.revision, 5);
});

test("what is notified while the list is on its way is not lost to it", async () => {
  let answer: (list: Branch[]) => void = () => {};
  const { branches } = session({ listBranches: () => new Promise<Branch[]>((done) => (answer = done)) });
  const loaded = branches.load();
  branches.apply({ kind: "discarded", branch: branch("gone") });
  branches.apply({ kind: "forked", branch: branch("new") });
  branches.apply({ kind: "edited", branch: branch("a", { revision: 7 }) });
  answer([branch("a"), branch("gone")]);
  await loaded;
  assert.deepEqual(branches.list().map((it) => [it.name, it.revision]), [["a", 7], ["new", 1]]);
});

test("the answer of an older call does not replace that of a newer one", async () => {
  const answers: ((list: Branch[]) => void)[] = [];
  const { branches } = session({ listBranches: () => new Promise<Branch[]>((done) => answers.push(done)) });
  const loads = [branches.load(), branches.load()];
  answers[1]?.([branch("new")]);
  answers[0]?.([branch("old")]);
  await Promise.all(loads);
  assert.deepEqual(branches.list().map((it) => it.name), ["new"]);
});

test("a list that could not be had changes nothing", async () => {
  let isBusy = false;
  const { branches } = session({
    listBranches: () => {
      if (isBusy) throw new Error("busy");
      return [branch("a")];
    },
  });
  await branches.load();
  isBusy = true;
  await assert.rejects(branches.load(), /busy/);
  branches.apply({ kind: "forked", branch: branch("b") });
  assert.deepEqual(branches.list().map((it) => it.name), ["a", "b"]);
});

test("changes are asked for once per revision", async () => {
  const { branches, calls } = session({
    listBranches: () => [branch("a")],
    diffBranch: () => ({ patch: "", changes: [change("a", "cart.py")] }),
  });
  await branches.load();
  const [first] = branches.list();
  assert.ok(first);
  await branches.changes(first);
  await branches.changes(first);
  branches.apply({ kind: "edited", branch: branch("a", { revision: 2 }) });
  // The node of the tree is older than the branch.
  await branches.changes(first);
  assert.deepEqual(calls, ["broker.listBranches {}", ...Array(2).fill('broker.diffBranch {"branch":"id-a"}')]);
});

test("changes that could not be had are asked for again", async () => {
  let failures = 1;
  const { branches } = session({
    diffBranch: () => {
      if (failures-- > 0) throw new Error("busy");
      return { patch: "", changes: [] };
    },
  });
  await assert.rejects(branches.changes(branch("a")), /busy/);
  assert.deepEqual(await branches.changes(branch("a")), []);
});

test("a server that is gone has no branches, whatever it still answers", async () => {
  let answer: (list: Branch[]) => void = () => {};
  const { branches } = session({ listBranches: () => new Promise<Branch[]>((done) => (answer = done)) });
  const loaded = branches.load();
  branches.clear();
  answer([branch("a")]);
  await loaded;
  assert.equal(branches.size, 0);
});
