// Commit, rebase, discard and run, each with its confirmations.

import type { Session } from "./commands.js";
import { type Branch, type Change, type ConflictHandling, refusal, type RunResult } from "./protocol.js";
import { counted } from "./status.js";

/** Reason of an error of the server: a file changed since the branch edited it. */
const CONFLICT = "CONFLICT";

/** Limit on lines in a dialog. Further ones are counted. */
const MOST_LINES = 15;

export async function commit(session: Session, branch: Branch): Promise<void> {
  const { broker, window } = session;
  let force: string[] | undefined = [];
  // Each iteration ends the commit, or adds files to overwrite.
  while (force) {
    try {
      const planned = await broker.commitBranch(branch.id, { dryRun: true, force });
      const count = planned.changes.length + planned.left.length;
      if (count === 0) return window.info(`Branch "${branch.name}" changes nothing.`);
      if (!(await isWanted(session, branch, planned.changes, planned.left))) return;
      const done = await broker.commitBranch(branch.id, { force });
      const left = done.left.length > 0 ? ` ${counted(done.left.length, "file")} changed in the editor, to be saved.` : "";
      window.info(`Branch "${branch.name}": ${counted(done.changes.length, "file")} written.${left}`);
      for (const note of done.notes) void window.warn(note);
      return;
    } catch (error) {
      force = await overwrite(session, branch, error, force);
    }
  }
}

async function isWanted(session: Session, branch: Branch, changes: Change[], left: string[]): Promise<boolean> {
  const message = `Write ${counted(changes.length, "file")} of the branch "${branch.name}" to the disk?`;
  const detail = lines(changes.map((it) => `${it.kind}: ${it.from ? `${it.from} → ` : ""}${it.path}`));
  const open = left.length > 0 ? `\n\nChanged in the editor, since they have unsaved edits:\n${lines(left)}` : "";
  return (await session.window.confirm(message, detail + open, "Commit")) === "Commit";
}

/** Asks what to do about files in conflict. Returns all paths to overwrite, or nothing after a rebase or a refusal. */
async function overwrite(
  session: Session,
  branch: Branch,
  error: unknown,
  before: string[],
): Promise<string[] | undefined> {
  const { reason, paths } = refusal(error);
  const unforced = paths.filter((it) => !before.includes(it));
  if (reason !== CONFLICT || unforced.length === 0) throw error;
  const count = counted(unforced.length, "file");
  const message = `${count} changed on the disk since the branch "${branch.name}" touched ${unforced.length === 1 ? "it" : "them"}.`;
  const answer = await session.window.confirm(message, lines(unforced), "Rebase", "Overwrite on Disk");
  if (answer === "Overwrite on Disk") return [...before, ...unforced];
  if (answer === "Rebase") await rebase(session, branch);
  return undefined;
}

export async function rebase(session: Session, branch: Branch): Promise<void> {
  let handling: ConflictHandling | undefined = "refuse";
  while (handling) {
    try {
      const { merged, conflicts } = await session.broker.rebaseBranch(branch.id, handling);
      const facts = [
        merged.length > 0 && `${counted(merged.length, "file")} merged`,
        conflicts.length > 0 && counted(conflicts.length, "conflict"),
      ].filter(Boolean);
      session.window.info(`Branch "${branch.name}" is up to date${facts.length > 0 ? `: ${facts.join(", ")}` : ""}.`);
      return;
    } catch (error) {
      handling = await conflictHandling(session, branch, error);
    }
  }
}

async function conflictHandling(
  { window }: Session,
  branch: Branch,
  error: unknown,
): Promise<ConflictHandling | undefined> {
  const { reason, message, paths } = refusal(error);
  if (reason !== CONFLICT) throw error;
  const detail = paths.length > 0 ? lines(paths) : message;
  const question = `The branch "${branch.name}" and its parent changed the same lines.`;
  const answer = await window.confirm(question, detail, "Keep the Branch's", "Write Conflict Markers");
  if (answer === "Keep the Branch's") return "keep";
  return answer === "Write Conflict Markers" ? "markers" : undefined;
}

export async function discard({ broker, branches, window }: Session, branch: Branch): Promise<void> {
  const detail = `${counted(branch.changedPaths, "changed path")} of it will be lost. This cannot be undone.`;
  const answer = await window.confirm(`Discard the branch "${branch.name}"?`, detail, "Discard");
  if (answer !== "Discard") return;
  await broker.discardBranch(branch.id);
  branches.apply({ kind: "discarded", branch });
}

/** The last command line, by workspace. */
const lastLines = new Map<string, string>();

export async function runCommand({ broker, window }: Session, branch: Branch): Promise<void> {
  const prompt = `Command to run in a sandboxed folder that shows the branch "${branch.name}"`;
  const line = (await window.input(prompt, lastLines.get(branch.workspace)))?.trim();
  if (!line) return;
  lastLines.set(branch.workspace, line);
  window.output(`[${branch.name}] $ ${line}`, { show: true });
  const title = `Running in the branch "${branch.name}": ${line}`;
  const result = await window.progress(title, (signal) => broker.runInBranch(branch.id, ["sh", "-c", line], signal));
  const cut = result.truncated ? "(the output begins earlier)\n" : "";
  window.output(`${cut}${result.output.trimEnd()}\n[${branch.name}] ${ending(result)}`);
}

function ending({ exitCode, signal, reason }: RunResult): string {
  const reached = signal ? `ended by signal ${signal}` : "not started";
  return [exitCode === null ? reached : `exit code ${exitCode}`, reason].filter(Boolean).join(": ");
}

function lines(paths: string[]): string {
  const rest = paths.length - MOST_LINES;
  return [...paths.slice(0, MOST_LINES), ...(rest > 0 ? [`and ${rest} more`] : [])].join("\n");
}
