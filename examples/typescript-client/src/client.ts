// What an agent does with a branch, one method each.

import type * as grpc from "@grpc/grpc-js";
import { resolve } from "node:path";

import type { Connection } from "./connection.js";
import type { CheckResponse__Output } from "./generated/broker/v1/CheckResponse.js";
import type { FixFilesResponse__Output } from "./generated/broker/v1/FixFilesResponse.js";
import type { CommitBranchResponse__Output } from "./generated/broker/v1/CommitBranchResponse.js";
import type { DiffBranchResponse__Output } from "./generated/broker/v1/DiffBranchResponse.js";
import type { DiscardBranchResponse__Output } from "./generated/broker/v1/DiscardBranchResponse.js";
import type { EditFilesResponse__Output } from "./generated/broker/v1/EditFilesResponse.js";
import type { FileChange__Output } from "./generated/broker/v1/FileChange.js";
import type { FileEdit } from "./generated/broker/v1/FileEdit.js";
import type { FileInfo__Output } from "./generated/broker/v1/FileInfo.js";
import type { ForkBranchResponse__Output } from "./generated/broker/v1/ForkBranchResponse.js";
import type { OpenWorkspaceResponse__Output } from "./generated/broker/v1/OpenWorkspaceResponse.js";
import type { QueryRequest } from "./generated/broker/v1/QueryRequest.js";
import type { QueryResponse__Output } from "./generated/broker/v1/QueryResponse.js";
import type { ReadFileResponse__Output } from "./generated/broker/v1/ReadFileResponse.js";
import type { Target } from "./generated/broker/v1/Target.js";
import { broker } from "./schema.js";

/** Nothing here should take so long; without a deadline, a call could wait forever. */
const deadline = () => ({ deadline: Date.now() + 60_000 });

export const onBranch = (branchId: string): Target => ({ branchId });
export const onBase = (workspaceId: string): Target => ({ workspaceId });

export class Client {
  private readonly workspaces;
  private readonly branches;
  private readonly files;
  private readonly checks;
  private readonly queries;

  constructor({ address, credentials, options }: Connection) {
    this.workspaces = new broker.WorkspaceService(address, credentials, options);
    this.branches = new broker.BranchService(address, credentials, options);
    this.files = new broker.FileService(address, credentials, options);
    this.checks = new broker.CheckService(address, credentials, options);
    this.queries = new broker.QueryService(address, credentials, options);
  }

  close(): void {
    for (const it of [this.workspaces, this.branches, this.files, this.checks, this.queries]) it.close();
  }

  /** The workspace's handle. To open a folder that is open already costs nothing. */
  async open(folder: string): Promise<string> {
    const request = { root: resolve(folder) };
    const opened = await answer<OpenWorkspaceResponse__Output>((done) =>
      this.workspaces.openWorkspace(request, deadline(), done),
    );
    return opened.workspace!.workspaceId;
  }

  /** The new branch's handle. */
  async fork(parent: Target, name = ""): Promise<string> {
    const forked = await answer<ForkBranchResponse__Output>((done) =>
      this.branches.forkBranch({ parent, name }, deadline(), done),
    );
    return forked.branch!.branchId;
  }

  /** A file as the branch or the base has it. Its description comes first, then pieces of it. */
  async read(target: Target, path: string): Promise<{ info: FileInfo__Output; content: Buffer }> {
    const pieces: Uint8Array[] = [];
    let info: FileInfo__Output | undefined;
    const parts = this.files.readFile({ target, path }, deadline());
    for await (const part of parts as AsyncIterable<ReadFileResponse__Output>) {
      if (part.info) info = part.info;
      if (part.content) pieces.push(part.content);
    }
    return { info: info!, content: Buffer.concat(pieces) };
  }

  /** Puts `now` in place of the only `old` in a file. Gives the new revision. */
  async replace(branchId: string, path: string, old: string, now: string): Promise<number> {
    const { info, content } = await this.read(onBranch(branchId), path);
    // Spans count bytes of UTF-8; the index in a string would count UTF-16 units.
    const start = content.indexOf(old, 0, "utf8");
    if (start < 0 || content.indexOf(old, start + 1, "utf8") >= 0) throw new Error(`${path} has the text not once`);
    const edits = [{ span: { start, end: start + Buffer.byteLength(old) }, replacement: now }];
    // The hash makes the edit safe: had the file changed since it was read, the offsets would be wrong.
    return this.edit(branchId, [{ text: { path, edits, ifContentHash: info.contentHash } }]);
  }

  /** Applies what `diff -u` or `git diff` wrote. Gives the new revision. */
  async patch(branchId: string, patch: string): Promise<number> {
    return this.edit(branchId, [{ patch: { patch } }]);
  }

  /** Has the safe fixes made of what the linters find, as one edit of the branch. Says how many. */
  async fix(branchId: string, paths: string[]): Promise<number> {
    const fixed = await answer<FixFilesResponse__Output>((done) =>
      this.checks.fixFiles({ branchId, paths }, deadline(), done),
    );
    return fixed.fixes;
  }

  /**
   * `started`, then findings as they come, then a `summary`. To leave the loop early cancels the check.
   * With `dependents`, language servers are also asked about the files that import those at `paths`.
   */
  check(target: Target, paths: string[], newOnly = false, dependents = false): AsyncIterable<CheckResponse__Output> {
    return this.checks.check({ target, paths, newOnly, dependents }, deadline());
  }

  /** Where the name at a place is used, in the branch. A language server answers, if the user trusts the folder. */
  async references(branchId: string, path: string, line: number, column: number): Promise<QueryResponse__Output> {
    return this.query({ target: onBranch(branchId), kind: "QUERY_KIND_REFERENCES", path, position: { line, column } });
  }

  /** Renames what is at a place, in the branch; refused if the branch is edited meanwhile. */
  async rename(branchId: string, path: string, line: number, column: number, name: string): Promise<number> {
    const [target, position] = [onBranch(branchId), { line, column }];
    const renamed = await this.query({ target, kind: "QUERY_KIND_RENAME", path, position, text: name, apply: true });
    return renamed.appliedRevision!;
  }

  /** What the branch changed, as a patch. */
  async diff(branchId: string): Promise<string> {
    let patch = "";
    const parts = this.branches.diffBranch({ branchId }, deadline());
    for await (const part of parts as AsyncIterable<DiffBranchResponse__Output>) patch += part.patch ?? "";
    return patch;
  }

  /** Writes the branch to the disk, all or nothing. With a revision, only if the branch is still at it. */
  async commit(branchId: string, ifRevision?: number): Promise<FileChange__Output[]> {
    const committed = await answer<CommitBranchResponse__Output>((done) =>
      this.branches.commitBranch({ branchId, ifRevision }, deadline(), done),
    );
    return committed.changes;
  }

  async discard(branchId: string): Promise<void> {
    await answer<DiscardBranchResponse__Output>((done) =>
      this.branches.discardBranch({ branchId }, deadline(), done),
    );
  }

  /** Lines and columns count from 1, columns in characters. */
  private async query(request: QueryRequest): Promise<QueryResponse__Output> {
    return answer<QueryResponse__Output>((done) => this.queries.query(request, deadline(), done));
  }

  private async edit(branchId: string, edits: FileEdit[]): Promise<number> {
    const edited = await answer<EditFilesResponse__Output>((done) =>
      this.files.editFiles({ branchId, edits }, deadline(), done),
    );
    return edited.revision;
  }
}

/** A call with one answer, as a promise. */
function answer<A>(start: (done: grpc.requestCallback<A>) => unknown): Promise<A> {
  return new Promise((resolve, reject) => start((error, value) => (error ? reject(error) : resolve(value!))));
}
