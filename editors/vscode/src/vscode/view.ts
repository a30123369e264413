// The view "Branches", and decorations of files in branches (letter and colour) wherever VS Code lists them.

import * as vscode from "vscode";

import type { Branches } from "../core/branches.js";
import { type Change, uriKey } from "../core/protocol.js";
import type { BranchTree, Item, Node } from "../core/tree.js";

export class BranchView implements vscode.TreeDataProvider<Node>, vscode.FileDecorationProvider {
  readonly #treeChanged = new vscode.EventEmitter<undefined>();
  readonly #filesChanged = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#treeChanged.event;
  readonly onDidChangeFileDecorations = this.#filesChanged.event;
  /** Changes of listed branches, by branch id and by the key of the branch document's URI. */
  readonly #changes = new Map<string, Map<string, Change>>();

  constructor(
    private readonly tree: BranchTree,
    branches: Branches,
  ) {
    branches.onChange(() => this.refresh());
  }

  refresh(): void {
    this.#treeChanged.fire(undefined);
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (!node) return this.tree.roots((vscode.workspace.workspaceFolders ?? []).map((it) => it.uri.toString()));
    const children = await this.tree.children(node);
    if (node.kind === "branch") this.#decorate(node.branch.id, children);
    return children;
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return treeItem(this.tree.item(node), node);
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    const change = this.#changes.get(uri.authority)?.get(uriKey(uri.toString()));
    return change && decoration(change);
  }

  #decorate(branch: string, nodes: Node[]): void {
    const changes = nodes.flatMap((it) => (it.kind === "file" && it.change ? [it.change] : []));
    this.#changes.set(branch, new Map(changes.map((it) => [uriKey(it.branchUri), it])));
    this.#filesChanged.fire(undefined);
  }
}

const CHILDREN = {
  none: vscode.TreeItemCollapsibleState.None,
  collapsed: vscode.TreeItemCollapsibleState.Collapsed,
  expanded: vscode.TreeItemCollapsibleState.Expanded,
};

function treeItem(item: Item, node: Node): vscode.TreeItem {
  const made = new vscode.TreeItem(item.label, CHILDREN[item.children]);
  made.id = item.id;
  made.description = item.description;
  made.tooltip = item.tooltip;
  made.contextValue = item.context;
  if (item.icon) made.iconPath = new vscode.ThemeIcon(item.icon);
  if (item.uri) made.resourceUri = vscode.Uri.parse(item.uri);
  if (item.command) made.command = { command: item.command, title: item.label, arguments: [node] };
  return made;
}

const DECORATIONS: Record<Change["kind"], [string, string]> = {
  added: ["A", "addedResourceForeground"],
  modified: ["M", "modifiedResourceForeground"],
  deleted: ["D", "deletedResourceForeground"],
  renamed: ["R", "renamedResourceForeground"],
  mode: ["P", "modifiedResourceForeground"],
};

function decoration(change: Change): vscode.FileDecoration {
  const [letter, colour] = DECORATIONS[change.kind];
  return new vscode.FileDecoration(letter, undefined, new vscode.ThemeColor(`gitDecoration.${colour}`));
}
