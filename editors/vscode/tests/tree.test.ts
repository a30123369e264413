import assert from "node:assert/strict";
import { test } from "node:test";

import { BranchTree, type Node } from "../src/core/tree.js";
import { branch, change, finding, FOLDER, refused, type Script, session, text } from "./support.js";

/** The whole tree as lines, and the tree itself. */
async function drawn(script: Script, prepare = (_: ReturnType<typeof session>) => {}, folders = [FOLDER]) {
  const it = session(script);
  await it.branches.load();
  prepare(it);
  const tree = new BranchTree(it.branches, it.checks);
  const lines: string[] = [];
  const draw = async (nodes: Node[], indent: string) => {
    for (const node of nodes) {
      const { label, description, context } = tree.item(node);
      lines.push(`${indent}${context}: ${label}${description ? ` — ${description}` : ""}`);
      await draw(await tree.children(node), `${indent}  `);
    }
  };
  await draw(tree.roots(folders), "");
  return { lines: text(lines), tree };
}

const CHANGES = [
  change("fix", "cart.py"),
  change("fix", "src/new.py", "added"),
  change("fix", "docs/50%.md", "renamed", "docs/half.md"),
  change("fix", "old.py", "deleted"),
  change("fix", "run.sh", "mode"),
];
const SCRIPT: Script = {
  listBranches: () => [branch("fix", { changedPaths: 5 })],
  diffBranch: () => ({ patch: "", changes: CHANGES }),
};

test("branches have the files that they changed", async () => {
  const { lines } = await drawn(SCRIPT);
  assert.equal(
    lines,
    text([
      "branch: fix — 5 files",
      "  file.modified: cart.py",
      "  file.added: new.py — src",
      "  file.renamed: 50%.md — docs",
      "  file.deleted: old.py",
      "  file.mode: run.sh",
    ]),
  );
});

test("findings of a check are below their files, also of files that were not changed", async () => {
  const findings = [
    finding("fix", "cart.py", 1),
    finding("fix", "cart.py", 7, { change: "fixed" }),
    finding("fix", "shop.py", 3),
  ];
  const { lines } = await drawn(
    { ...SCRIPT, diffBranch: () => ({ patch: "", changes: [change("fix", "cart.py")] }) },
    ({ branches, checks }) => {
      const [fix] = branches.list();
      if (fix) checks.set(fix, { complete: false, findings, incomplete: [] });
    },
  );
  assert.equal(
    lines,
    text([
      "branch: fix — 5 files · 2 errors (incomplete)",
      "  file.modified: cart.py — 1 error",
      "    finding: Undefined name `price` — python/F821 [2, 5]",
      "  file.unchanged: shop.py — 1 error",
      "    finding: Undefined name `price` — python/F821 [4, 5]",
    ]),
  );
});

test("a check says nothing of another revision", async () => {
  const { lines } = await drawn(
    { ...SCRIPT, diffBranch: () => ({ patch: "", changes: [] }) },
    ({ branches, checks }) => {
      const [fix] = branches.list();
      if (fix) checks.set(fix, { complete: true, findings: [finding("fix", "cart.py", 1)], incomplete: [] });
      branches.apply({ kind: "edited", branch: branch("fix", { revision: 2 }) });
    },
  );
  assert.equal(lines, "branch: fix — 1 file");
});

test("several folders are levels of their own", async () => {
  const other = "file:///work/a%20shop";
  const script: Script = {
    listBranches: () => [branch("fix"), branch("else", { workspace: other })],
    diffBranch: () => ({ patch: "", changes: [] }),
  };
  const { lines } = await drawn(script, undefined, [FOLDER, other]);
  assert.equal(
    lines,
    text(["workspace: a shop", "  branch: else — 1 file", "workspace: shop", "  branch: fix — 1 file"]),
  );
});

test("what a branch changed and cannot be had is said in its place", async () => {
  const { lines } = await drawn({
    ...SCRIPT,
    diffBranch: () => {
      throw refused("the branch is gone", { reason: "NOT_FOUND" });
    },
  });
  assert.equal(lines, text(["branch: fix — 5 files", "  message: the branch is gone"]));
});

test("nodes have identities of their own", async () => {
  const { tree } = await drawn(SCRIPT);
  const [fix] = tree.roots([FOLDER]);
  assert.ok(fix);
  const ids = (await tree.children(fix)).map((it) => tree.item(it).id);
  assert.equal(new Set(ids).size, CHANGES.length);
  assert.ok(ids.every((it) => it.startsWith("id-fix ")));
});
