// The extension's commands, by name. Commands about branches get the node of the tree that they were called on, or ask for a
// branch. Their names differ from the server's (`broker.commitBranch`), because the client library registers those itself.

import type { Branches } from "./branches.js";
import { type Checks, shown, summary } from "./checks.js";
import { commit, discard, rebase, runCommand } from "./operations.js";
import { type Branch, type Broker, type Change, isCancelled, refusal, uriKey } from "./protocol.js";
import { counted } from "./status.js";
import type { Node } from "./tree.js";
import type { Comparison, Window } from "./window.js";

export interface Session {
  broker: Broker;
  branches: Branches;
  checks: Checks;
  window: Window;
  /** Starts or restarts the server. */
  restart(): Promise<void>;
  /** Shows the findings of checks, after one has ended. */
  checked(id: string): void;
}

export type Command = (session: Session, node?: Node) => Promise<void>;

export const COMMANDS: Record<string, Command> = {
  "broker.restart": (session) => session.restart(),
  "broker.showLog": async ({ window }) => window.showLog(),
  "broker.showBranches": ({ window }) => window.showBranches(),
  "broker.openSettings": ({ window }) => window.openSettings("@ext:broker.broker-check"),
  "broker.branch.refresh": ({ branches }) => branches.load(),
  "broker.branch.fork": fork,
  "broker.branch.diff": onBranch("show the changes of", diffBranch),
  "broker.branch.check": onBranch("check", check),
  "broker.branch.commit": onBranch("commit", commit),
  "broker.branch.rebase": onBranch("rebase", rebase),
  "broker.branch.discard": onBranch("discard", discard),
  "broker.branch.run": onBranch("run a command in", runCommand),
  "broker.branch.diffFile": async ({ branches, window }, node) => {
    if (node?.kind !== "file") return;
    if (node.change) await window.compare(comparison(branches, node.branch, node.change));
    else await window.openDocument(node.branchUri);
  },
  "broker.branch.openFile": async ({ window }, node) => {
    if (node?.kind === "file") await window.openDocument(node.branchUri);
  },
  "broker.branch.openFinding": async ({ window }, node) => {
    if (node?.kind === "finding") await window.openDocument(node.finding.uri, node.finding.diagnostic.range);
  },
};

/** Command of the server's code lenses. The extension handles it, since VS Code would not show the result. */
export const LENS = "broker.diffBranch";

/** Compares the active document with the branch of a code lens; all files of the branch if it does not change the document. */
export async function openLens(session: Session, id: string): Promise<void> {
  const { branches, window } = session;
  const branch = branches.get(id);
  if (!branch) return window.info("The branch is gone.");
  const active = uriKey(window.activeDocument() ?? "");
  const change = (await branches.changes(branch)).find((it) => uriKey(it.uri) === active);
  if (change) await window.compare(comparison(branches, branch, change));
  else await diffBranch(session, branch);
}

/** Runs a command by its name. */
export async function run(name: string, session: Session, node?: Node): Promise<void> {
  const command = COMMANDS[name];
  if (command) await guarded(session, () => command(session, node));
}

/** Does work. An error of the server is shown with its hint. */
export async function guarded(session: Session, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (isCancelled(error)) return;
    const { message, hint } = refusal(error);
    if ((await session.window.warn(hint ? `${message} (${hint})` : message, "Show Log")) !== undefined) {
      session.window.showLog();
    }
  }
}

function onBranch(verb: string, work: (session: Session, branch: Branch) => Promise<void>): Command {
  return async (session, node) => {
    const branch = node && "branch" in node ? node.branch : await pickBranch(session, verb);
    // The node has the branch as it was when the tree was drawn.
    if (branch) await work(session, session.branches.get(branch.id) ?? branch);
  };
}

async function pickBranch({ branches, window }: Session, verb: string): Promise<Branch | undefined> {
  const choices = branches.list().map((branch) => {
    return { label: branch.name, description: counted(branch.changedPaths, "file"), value: branch };
  });
  if (choices.length > 0) return window.pick(`Branch to ${verb}`, choices);
  window.info("There are no branches.");
  return undefined;
}

async function fork(session: Session, node?: Node): Promise<void> {
  const { broker, branches, window } = session;
  const parent = node?.kind === "branch" ? node.branch : undefined;
  const workspace = parent?.workspace ?? (node?.kind === "workspace" ? node.uri : await pickFolder(window));
  if (!workspace) return window.folders().length === 0 ? window.info("No folder is open.") : undefined;
  const of = parent ? ` of "${parent.name}"` : "";
  const name = await window.input(`Name of the new branch${of}; without one, a name is made up`);
  if (name === undefined) return;
  const branch = await broker.forkBranch({ workspace, name: name.trim() || undefined, parent: parent?.id });
  branches.apply({ kind: "forked", branch });
}

async function pickFolder(window: Window): Promise<string | undefined> {
  const folders = window.folders();
  if (folders.length <= 1) return folders[0];
  return window.pick(
    "Workspace folder of the new branch",
    folders.map((uri) => ({ label: uri.split("/").at(-1) ?? uri, description: uri, value: uri })),
  );
}

async function diffBranch({ branches, window }: Session, branch: Branch): Promise<void> {
  const changes = await branches.changes(branch);
  if (changes.length === 0) return window.info(`Branch "${branch.name}" changes nothing.`);
  const comparisons = changes.map((it) => comparison(branches, branch, it));
  await window.compareAll(`Changes of the branch "${branch.name}"`, comparisons);
}

/** The file before the change, in the parent branch or on the disk, and after it. */
function comparison(branches: Branches, branch: Branch, change: Change): Comparison {
  const name = change.path.split("/").at(-1) ?? change.path;
  const before = branch.parent ? change.branchUri.replace(`//${branch.id}/`, `//${branch.parent}/`) : change.uri;
  const former = (uri: string) => (change.from ? sibling(uri, change.path, change.from) : undefined);
  const parent = branch.parent && branches.get(branch.parent)?.name;
  return {
    title: `${name} (${parent ?? "disk"} ↔ ${branch.name})`,
    of: change.branchUri,
    was: former(change.branchUri),
    left: change.kind === "added" ? undefined : (former(before) ?? before),
    right: change.kind === "deleted" ? undefined : change.branchUri,
  };
}

/** The URI of another path in the same root. */
function sibling(uri: string, path: string, other: string): string {
  const escaped = (it: string) => it.split("/").map(encodeURIComponent).join("/");
  const root = uri.slice(0, uri.length - escaped(path).length);
  return uri.endsWith(escaped(path)) ? root + escaped(other) : uri;
}

async function check(session: Session, branch: Branch): Promise<void> {
  const { broker, checks, window } = session;
  const title = `Checking the branch "${branch.name}"`;
  const result = await window.progress(title, (signal) => broker.checkBranch(branch.id, signal));
  checks.set(branch, result);
  session.checked(branch.id);
  const { text, incomplete } = summary(branch, result);
  if (incomplete.length > 0) window.output([text, ...incomplete.map((it) => `  ${it}`)].join("\n"));
  await tell(window, text, shown(result.findings).length > 0, incomplete.length > 0);
}

async function tell(window: Window, text: string, isFound: boolean, isIncomplete: boolean): Promise<void> {
  if (!isFound && !isIncomplete) return window.info(text);
  const buttons = [isFound && "Show Problems", isIncomplete && "Show What"].filter((it) => it !== false);
  const pressed = await window.warn(text, ...buttons);
  if (pressed === "Show Problems") await window.showProblems();
  if (pressed === "Show What") window.output("", { show: true });
}
