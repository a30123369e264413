import assert from "node:assert/strict";
import { test } from "node:test";

import { openLens, run } from "../src/core/commands.js";
import type { Node } from "../src/core/tree.js";
import { branch, change, finding, refused, type Script, session, text } from "./support.js";

const FIX = branch("fix");
const NODE: Node = { kind: "branch", branch: FIX };
const CHANGES = [change("fix", "cart.py"), change("fix", "new.py", "added")];
const conflict = (...paths: string[]) => refused("changed meanwhile", { reason: "CONFLICT", paths });

/** Runs a command; the transcript, and what the server was asked. */
async function transcript(name: string, script: Script, answers: (string | undefined)[], node: Node | undefined = NODE) {
  const it = session({ listBranches: () => [FIX], ...script });
  await it.branches.load();
  it.calls.length = 0;
  it.window.answers.push(...answers);
  await run(name, it, node);
  assert.deepEqual(it.window.answers, [], "every answer was asked for");
  return { ...it, lines: text(it.window.transcript), asked: text(it.calls) };
}

test("a commit shows what it would write, and asks", async () => {
  const script: Script = {
    commitBranch: () => ({ revision: 2, changes: CHANGES, left: ["cart.py"], notes: ["a text is in FILE"] }),
  };
  const { lines, asked } = await transcript("broker.branch.commit", script, ["Commit"]);
  assert.equal(
    lines,
    text([
      'Write 2 files of the branch "fix" to the disk?',
      "modified: cart.py",
      "added: new.py",
      "Changed in the editor, since they have unsaved edits:",
      "cart.py",
      "[Commit]",
      "> Commit",
      'Branch "fix": 2 files written. 1 file changed in the editor, to be saved.',
      "warning: a text is in FILE",
    ]),
  );
  assert.equal(
    asked,
    text([
      'broker.commitBranch {"branch":"id-fix","dryRun":true,"force":[]}',
      'broker.commitBranch {"branch":"id-fix","force":[]}',
    ]),
  );
});

test("a commit that is not wanted writes nothing", async () => {
  const script: Script = { commitBranch: () => ({ revision: 1, changes: CHANGES, left: [], notes: [] }) };
  const { asked } = await transcript("broker.branch.commit", script, [undefined]);
  assert.equal(asked, 'broker.commitBranch {"branch":"id-fix","dryRun":true,"force":[]}');
});

test("a long list is cut", async () => {
  const many = Array.from({ length: 40 }, (_, it) => change("fix", `${it}.py`));
  const script: Script = { commitBranch: () => ({ revision: 1, changes: many, left: [], notes: [] }) };
  const { lines } = await transcript("broker.branch.commit", script, [undefined]);
  assert.match(lines, /modified: 14\.py\nand 25 more\n/);
});

test("a commit in conflict overwrites only what was agreed to", async () => {
  const script: Script = {
    commitBranch: ({ force, dryRun }) => {
      const forced = force as string[];
      if (!forced.includes("cart.py")) throw conflict("cart.py");
      // It changes between the question and the answer.
      if (!dryRun && !forced.includes("new.py")) throw conflict("cart.py", "new.py");
      return { revision: 2, changes: CHANGES, left: [], notes: [] };
    },
  };
  const answers = ["Overwrite on Disk", "Commit", "Overwrite on Disk", "Commit"];
  const { lines, asked } = await transcript("broker.branch.commit", script, answers);
  assert.match(lines, /^1 file changed on the disk since the branch "fix" touched it\.\ncart\.py\n\[Rebase\] \[Over/);
  assert.match(lines, /\n1 file changed on the disk[^\n]*\nnew\.py\n/);
  assert.match(asked, /"force":\["cart\.py","new\.py"\]}$/);
});

test("a commit in conflict can be rebased instead", async () => {
  const script: Script = {
    commitBranch: () => {
      throw conflict("cart.py");
    },
    rebaseBranch: () => ({ revision: 3, merged: ["cart.py"], conflicts: [] }),
  };
  const { lines } = await transcript("broker.branch.commit", script, ["Rebase"]);
  assert.match(lines, /> Rebase\nBranch "fix" is up to date: 1 file merged\.$/);
});

test("a refusal is shown with its hint", async () => {
  const script: Script = {
    commitBranch: () => {
      throw refused("the disk is full", { reason: "IO", hint: "make room" });
    },
  };
  const { lines } = await transcript("broker.branch.commit", script, [undefined]);
  assert.equal(lines, text(["warning: the disk is full (make room)", "[Show Log]", "> (dismissed)"]));
});

test("a rebase in conflict asks what to do", async () => {
  const script: Script = {
    rebaseBranch: ({ onConflict }) => {
      if (onConflict === "refuse") throw conflict("cart.py");
      return { revision: 3, merged: [], conflicts: [{ path: "cart.py", reason: "both changed line 2" }] };
    },
  };
  const { lines, asked } = await transcript("broker.branch.rebase", script, ["Write Conflict Markers"]);
  assert.equal(
    lines,
    text([
      'The branch "fix" and its parent changed the same lines.',
      "cart.py",
      "[Keep the Branch's] [Write Conflict Markers]",
      "> Write Conflict Markers",
      'Branch "fix" is up to date: 1 conflict.',
    ]),
  );
  assert.match(asked, /"onConflict":"markers"}$/);
});

test("a branch is discarded only after a question", async () => {
  const script: Script = { discardBranch: () => null };
  const kept = await transcript("broker.branch.discard", script, [undefined]);
  assert.equal(kept.asked, "");
  const gone = await transcript("broker.branch.discard", script, ["Discard"]);
  assert.equal(gone.asked, 'broker.discardBranch {"branch":"id-fix"}');
  assert.equal(gone.branches.size, 0);
});

test("a check counts, and says what it could not do", async () => {
  const findings = [finding("fix", "cart.py", 1), finding("fix", "cart.py", 2, { change: "fixed" })];
  const incomplete = [{ path: "a.rs", linter: "rust-analyzer", reason: "not installed" }];
  const script: Script = { checkBranch: () => ({ complete: false, findings, incomplete }) };
  const { lines, checks } = await transcript("broker.branch.check", script, ["Show Problems"]);
  assert.equal(
    lines,
    text([
      '… Checking the branch "fix"',
      "(findings shown)",
      '| Branch "fix": 1 new, 1 fixed (1 error). Not everything could be checked.',
      "|   a.rs: rust-analyzer: not installed",
      'warning: Branch "fix": 1 new, 1 fixed (1 error). Not everything could be checked.',
      "[Show Problems] [Show What]",
      "> Show Problems",
      "(problems shown)",
    ]),
  );
  assert.equal(checks.of(FIX)?.findings.length, 2);
});

test("diagnostics of checks leave out open documents and what was fixed", async () => {
  const findings = [
    finding("fix", "a b.py", 1),
    finding("fix", "a b.py", 2, { change: "fixed" }),
    finding("fix", "open.py", 1),
  ];
  const script: Script = { checkBranch: () => ({ complete: true, findings, incomplete: [] }) };
  const { checks } = await transcript("broker.branch.check", script, [undefined]);
  const shown = checks.diagnostics((uri) => uri.endsWith("open.py"));
  assert.deepEqual([...shown].map(([uri, it]) => [uri, it.length]), [["broker-branch://id-fix/a b.py", 1]]);
});

test("a clean check says so", async () => {
  const script: Script = { checkBranch: () => ({ complete: true, findings: [], incomplete: [] }) };
  const { lines } = await transcript("broker.branch.check", script, []);
  assert.match(lines, /\nBranch "fix": 0 new, 0 fixed\.$/);
});

test("what the user cancels is no error", async () => {
  const script: Script = {
    checkBranch: () => {
      throw Object.assign(new Error("cancelled"), { code: -32800 });
    },
  };
  const { lines } = await transcript("broker.branch.check", script, []);
  assert.equal(lines, '… Checking the branch "fix"');
});

test("a command is run by a shell, and its end is shown", async () => {
  const script: Script = { runInBranch: () => ({ exitCode: 1, output: "1 failed\n", truncated: true }) };
  const { lines, asked } = await transcript("broker.branch.run", script, [" pytest -q "]);
  assert.equal(asked, 'broker.runInBranch {"branch":"id-fix","command":["sh","-c","pytest -q"]}');
  assert.equal(
    lines.split("\n").slice(2).join("\n"),
    text([
      "| [fix] $ pytest -q",
      "(output shown)",
      '… Running in the branch "fix": pytest -q',
      "| (the output begins earlier)",
      "| 1 failed",
      "| [fix] exit code 1",
    ]),
  );
});

test("a command that did not end by itself says why", async () => {
  const ends = [
    { exitCode: null, signal: 9, reason: "out of memory" },
    { exitCode: null, signal: null, reason: "no such program" },
  ];
  const said = ["ended by signal 9: out of memory", "not started: no such program"];
  for (const [end, expected] of ends.map((it, index) => [it, said[index]] as const)) {
    const script: Script = { runInBranch: () => ({ ...end, output: "", truncated: false }) };
    const { lines } = await transcript("broker.branch.run", script, ["x"]);
    assert.ok(lines.endsWith(`| [fix] ${expected}`), lines);
  }
});

test("a code lens shows the document that it is above", async () => {
  const it = session({ listBranches: () => [FIX], diffBranch: () => ({ patch: "", changes: CHANGES }) });
  await it.branches.load();
  it.window.active = CHANGES[0]?.uri;
  await openLens(it, FIX.id);
  it.window.active = undefined;
  await openLens(it, FIX.id);
  await openLens(it, "no-such-id");
  const [first, , , second, ...rest] = it.window.transcript;
  assert.equal(first, "cart.py (disk ↔ fix)");
  assert.equal(second, 'Changes of the branch "fix"');
  assert.equal(rest.at(-1), "The branch is gone.");
});

test("a fork of a branch has its workspace, and an empty name is none", async () => {
  const script: Script = { forkBranch: () => branch("made-up", { parent: "id-fix" }) };
  const { asked, branches } = await transcript("broker.branch.fork", script, ["  "]);
  assert.equal(asked, 'broker.forkBranch {"workspace":"file:///work/shop","parent":"id-fix"}');
  assert.equal(branches.size, 2);
});

test("from the palette, the branch is asked for", async () => {
  const it = session({ listBranches: () => [FIX, branch("other")], discardBranch: () => null });
  await it.branches.load();
  it.window.answers.push("other", undefined);
  await run("broker.branch.discard", it);
  assert.match(text(it.window.transcript), /^Branch to discard: fix, other\n> other\nDiscard the branch "other"\?/);
});

test("without branches there is nothing to choose", async () => {
  const it = session({});
  await run("broker.branch.check", it);
  assert.equal(text(it.window.transcript), "There are no branches.");
});

test("files are compared with the disk, new and deleted ones with nothing", async () => {
  const changes = [
    ...CHANGES,
    change("fix", "old.py", "deleted"),
    change("fix", "src/b c.py", "renamed", "src/a#.py"),
  ].map((it) => ({ ...it, uri: encodeURI(it.uri), branchUri: encodeURI(it.branchUri) }));
  const script: Script = { diffBranch: () => ({ patch: "", changes }) };
  const { lines } = await transcript("broker.branch.diff", script, []);
  assert.equal(
    lines,
    text([
      'Changes of the branch "fix"',
      "cart.py (disk ↔ fix)",
      "  file:///work/shop/cart.py",
      "  broker-branch://id-fix/cart.py",
      "new.py (disk ↔ fix)",
      "  (empty)",
      "  broker-branch://id-fix/new.py",
      "old.py (disk ↔ fix)",
      "  file:///work/shop/old.py",
      "  (empty)",
      "b c.py (disk ↔ fix)",
      "  file:///work/shop/src/a%23.py",
      "  broker-branch://id-fix/src/b%20c.py",
    ]),
  );
});

test("a branch of a branch is compared with its parent", async () => {
  const child = branch("child", { parent: "id-fix" });
  const node: Node = { kind: "branch", branch: child };
  const script: Script = {
    listBranches: () => [FIX, child],
    diffBranch: () => ({ patch: "", changes: [change("child", "cart.py")] }),
  };
  const { lines } = await transcript("broker.branch.diff", script, [], node);
  assert.match(lines, /cart\.py \(fix ↔ child\)\n  broker-branch:\/\/id-fix\/cart\.py\n  broker-branch:\/\/id-child\//);
});

test("a finding opens the branch's document", async () => {
  const node: Node = { kind: "finding", branch: FIX, finding: finding("fix", "cart.py", 1) };
  const { lines } = await transcript("broker.branch.openFinding", {}, [], node);
  assert.equal(lines, "open broker-branch://id-fix/cart.py");
});
