// The tree of the view "Branches" as data: workspaces, their branches, files, and findings of checks in those.

import type { Branches } from "./branches.js";
import { type Checks, counts, countsText, inFile, shown } from "./checks.js";
import { type Branch, type Change, type ChangeKind, type Finding, refusal, uriKey } from "./protocol.js";
import { counted } from "./status.js";

export type Node =
  | { kind: "workspace"; uri: string }
  | { kind: "branch"; branch: Branch }
  /** Missing for a file that the branch did not change, and in which a check has findings. */
  | { kind: "file"; branch: Branch; path: string; branchUri: string; change?: Change; findings: Finding[] }
  | { kind: "finding"; branch: Branch; finding: Finding }
  | { kind: "message"; id: string; text: string };

export interface Item {
  /** Stays the same between refreshes, so that expanded nodes stay expanded. */
  id: string;
  label: string;
  description?: string;
  tooltip?: string;
  icon?: string;
  /** Document whose icon and decorations the item has. */
  uri?: string;
  /** `viewItem` in the conditions of menus. */
  context: string;
  children: "none" | "collapsed" | "expanded";
  /** Command of the item itself, which gets the node. */
  command?: string;
}

export class BranchTree {
  constructor(
    private readonly branches: Branches,
    private readonly checks: Checks,
  ) {}

  /** `folders` are the URIs of the editor's workspace folders. */
  roots(folders: string[]): Node[] {
    const workspaces = this.branches.workspaces;
    if (workspaces.length === 0) return [];
    if (workspaces.length === 1 && folders.length <= 1) return this.#branchesOf(workspaces[0]);
    return workspaces.map((uri) => ({ kind: "workspace", uri }));
  }

  async children(node: Node): Promise<Node[]> {
    if (node.kind === "workspace") return this.#branchesOf(node.uri);
    if (node.kind === "branch") return this.#files(node.branch);
    if (node.kind !== "file") return [];
    return node.findings.map((finding) => ({ kind: "finding", branch: node.branch, finding }));
  }

  item(node: Node): Item {
    switch (node.kind) {
      case "workspace":
        return { ...plain(node.uri, lastPart(uriKey(node.uri)), "workspace"), icon: "root-folder", children: "expanded" };
      case "branch":
        return this.#branch(node.branch);
      case "file":
        return file(node);
      case "finding":
        return finding(node);
      case "message":
        return { ...plain(node.id, node.text, "message"), icon: "warning" };
    }
  }

  #branchesOf(workspace: string | undefined): Node[] {
    return this.branches.list(workspace).map((branch) => ({ kind: "branch", branch }));
  }

  async #files(branch: Branch): Promise<Node[]> {
    try {
      const changes = await this.branches.changes(branch);
      const found = shown(this.checks.of(branch)?.findings ?? []);
      const changed = changes.map((change) => changedFile(branch, change, found));
      return [...changed, ...otherFiles(branch, found, changes)];
    } catch (error) {
      return [{ kind: "message", id: `${branch.id} error`, text: refusal(error).message }];
    }
  }

  #branch(branch: Branch): Item {
    const result = this.checks.of(branch);
    const parent = branch.parent && (this.branches.get(branch.parent)?.name ?? branch.parent);
    const facts = [
      `Branch "${branch.name}", revision ${branch.revision}`,
      counted(branch.changedPaths, "changed path"),
      parent && `forked from the branch "${parent}"`,
      result && (countsText(counts(shown(result.findings))) || "nothing new found"),
      result && !result.complete && "not everything could be checked",
    ];
    return {
      ...plain(branch.id, branch.name, "branch"),
      description: [counted(branch.changedPaths, "file"), verdict(result)].filter(Boolean).join(" · "),
      tooltip: facts.filter(Boolean).join("\n"),
      icon: "git-branch",
      children: "collapsed",
    };
  }
}

function verdict(result: ReturnType<Checks["of"]>): string | undefined {
  if (!result) return undefined;
  return (countsText(counts(shown(result.findings))) || "✓") + (result.complete ? "" : " (incomplete)");
}

function changedFile(branch: Branch, change: Change, found: Finding[]): Node {
  const findings = inFile(found, change.branchUri);
  return { kind: "file", branch, path: change.path, branchUri: change.branchUri, change, findings };
}

/** Files that the branch did not change, and in which it causes findings. */
function otherFiles(branch: Branch, found: Finding[], changes: Change[]): Node[] {
  const changed = new Set(changes.map((it) => it.path));
  const others = new Map(found.filter((it) => !changed.has(it.path)).map((it) => [it.path, it.uri]));
  return [...others].map(([path, branchUri]) => {
    return { kind: "file", branch, path, branchUri, findings: inFile(found, branchUri) };
  });
}

const KINDS: Record<ChangeKind, string> = {
  added: "added",
  modified: "modified",
  deleted: "deleted",
  renamed: "renamed",
  mode: "permissions changed",
};

function file(node: Node & { kind: "file" }): Item {
  const { path, change, findings } = node;
  const folder = path.split("/").slice(0, -1).join("/");
  const state = change ? KINDS[change.kind] : "not changed";
  const from = change?.from ? ` from ${change.from}` : "";
  const found = countsText(counts(findings));
  return {
    ...plain(`${node.branch.id} ${path}`, lastPart(path), change ? `file.${change.kind}` : "file.unchanged"),
    description: [folder, found].filter(Boolean).join(" · "),
    tooltip: [path, state + from, found].filter(Boolean).join("\n"),
    uri: node.branchUri,
    children: findings.length > 0 ? "collapsed" : "none",
    command: "broker.branch.diffFile",
  };
}

const SEVERITY_ICONS = ["error", "error", "warning", "info", "lightbulb"];

function finding(node: Node & { kind: "finding" }): Item {
  const { path, diagnostic } = node.finding;
  const { line, character } = diagnostic.range.start;
  const rule = [diagnostic.source, diagnostic.code].filter((it) => it !== undefined).join("/");
  return {
    ...plain(`${node.branch.id} ${path}:${line}:${character} ${rule}`, diagnostic.message, "finding"),
    description: `${rule} [${line + 1}, ${character + 1}]`,
    tooltip: diagnostic.message,
    icon: SEVERITY_ICONS[diagnostic.severity ?? 1],
    command: "broker.branch.openFinding",
  };
}

function plain(id: string, label: string, context: string): Item {
  return { id, label, context, children: "none" };
}

function lastPart(path: string): string {
  return path.split("/").filter(Boolean).at(-1) ?? path;
}
