// What `broker lsp` offers beyond the Language Server Protocol: commands about branches, and one notification. Described in
// docs/reference/lsp.md. Knows neither VS Code nor a transport.

/** A position of the Language Server Protocol: both count from 0. */
export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

/** The fields of a protocol diagnostic that are read here. The others are passed on unchanged. */
export interface Diagnostic {
  range: Range;
  severity?: 1 | 2 | 3 | 4;
  code?: string | number;
  source?: string;
  message: string;
}

export interface Branch {
  id: string;
  name: string;
  /** URI of the workspace folder. */
  workspace: string;
  /** Id of the branch that it was forked from. */
  parent?: string | null;
  revision: number;
  changedPaths: number;
  createdMs: number;
}

export type ChangeKind = "added" | "modified" | "deleted" | "renamed" | "mode";

export interface Change {
  path: string;
  kind: ChangeKind;
  /** The path of a renamed file before. */
  from?: string | null;
  /** URI of the file in the workspace folder. */
  uri: string;
  /** URI of the file in the branch. */
  branchUri: string;
}

export interface Finding {
  uri: string;
  path: string;
  change?: "new" | "fixed" | null;
  diagnostic: Diagnostic;
}

export interface Incomplete {
  path: string;
  linter: string;
  reason: string;
}

export interface CheckResult {
  complete: boolean;
  findings: Finding[];
  incomplete: Incomplete[];
}

export interface CommitResult {
  revision: number;
  changes: Change[];
  /** Files with unsaved edits in an editor, which get the change as an edit and are not written. */
  left: string[];
  notes: string[];
}

export type ConflictHandling = "refuse" | "keep" | "markers";

export interface RebaseResult {
  revision: number;
  merged: string[];
  conflicts: { path: string; reason: string }[];
}

export interface RunResult {
  /** `null` if the command was not started, or was ended by a signal. */
  exitCode: number | null;
  signal?: number | null;
  /** Why the command was ended or not started. */
  reason?: string | null;
  output: string;
  truncated: boolean;
}

export const BRANCH_CHANGED = "broker/branchChanged";

export interface BranchChanged {
  kind: "forked" | "edited" | "committed" | "discarded";
  branch: Branch;
  changes?: Change[];
}

/** Client capability that asks for `broker/branchChanged`. */
export const EXPERIMENTAL = { brokerBranches: true };

/** Scheme of branch documents. */
export const BRANCH_SCHEME = "broker-branch";

/** Sends `workspace/executeCommand`. An aborted signal cancels the request. */
export type Execute = (command: string, argument: object, signal?: AbortSignal) => Promise<unknown>;

/** The server's commands, each with its argument and its result. */
export class Broker {
  constructor(private readonly execute: Execute) {}

  listBranches(workspace?: string): Promise<Branch[]> {
    return this.call("listBranches", { workspace });
  }

  forkBranch(argument: { workspace?: string; name?: string; parent?: string }): Promise<Branch> {
    return this.call("forkBranch", argument);
  }

  diffBranch(branch: string): Promise<{ patch: string; changes: Change[] }> {
    return this.call("diffBranch", { branch });
  }

  checkBranch(branch: string, signal?: AbortSignal): Promise<CheckResult> {
    return this.call("checkBranch", { branch, newOnly: true }, signal);
  }

  commitBranch(branch: string, options: { dryRun?: boolean; force?: string[] } = {}): Promise<CommitResult> {
    return this.call("commitBranch", { branch, ...options });
  }

  discardBranch(branch: string): Promise<null> {
    return this.call("discardBranch", { branch });
  }

  rebaseBranch(branch: string, onConflict: ConflictHandling = "refuse"): Promise<RebaseResult> {
    return this.call("rebaseBranch", { branch, onConflict });
  }

  runInBranch(branch: string, command: string[], signal?: AbortSignal): Promise<RunResult> {
    return this.call("runInBranch", { branch, command }, signal);
  }

  private call<T>(command: string, argument: object, signal?: AbortSignal): Promise<T> {
    // `undefined` fields are left out of JSON.
    return this.execute(`broker.${command}`, argument, signal) as Promise<T>;
  }
}

/** A command that the server refused. */
export interface Refusal {
  message: string;
  reason?: string | null;
  hint?: string | null;
  paths: string[];
}

/** Reads an error of the protocol; of any other error, the message. */
export function refusal(error: unknown): Refusal {
  const { message, data } = error as { message?: string; data?: Partial<Refusal> };
  const paths = Array.isArray(data?.paths) ? data.paths : [];
  return { message: message ?? String(error), reason: data?.reason, hint: data?.hint, paths };
}

/** Whether the user cancelled the request: `RequestCancelled` of the protocol, or VS Code's own error. */
export function isCancelled(error: unknown): boolean {
  const { code, name } = error as { code?: number; name?: string };
  return code === -32800 || name === "Canceled";
}

/** Normalised URI, equal for all its spellings: VS Code escapes more characters than the server does. */
export function uriKey(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}
