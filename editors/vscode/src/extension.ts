// Wires the parts together. Behaviour is in `core`, which does not depend on VS Code and is tested without it.

import * as vscode from "vscode";

import { Branches } from "./core/branches.js";
import { Checks } from "./core/checks.js";
import { COMMANDS, guarded, LENS, openLens, run, type Session } from "./core/commands.js";
import { type BranchChanged, Broker, refusal } from "./core/protocol.js";
import { NEED_RESTART } from "./core/settings.js";
import { type ServerState, status } from "./core/status.js";
import { BranchTree, type Node } from "./core/tree.js";
import { executor } from "./vscode/client.js";
import { Findings } from "./vscode/findings.js";
import { Server } from "./vscode/server.js";
import { BranchView } from "./vscode/view.js";
import { EditorWindow } from "./vscode/window.js";

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("Broker", { log: true });
  const window = new EditorWindow(log);
  const broker = new Broker(executor(() => server?.client));
  const branches = new Branches(broker);
  const checks = new Checks();
  const findings = new Findings(checks);
  const view = new BranchView(new BranchTree(branches, checks), branches);
  const item = vscode.window.createStatusBarItem("broker.status", vscode.StatusBarAlignment.Left);
  item.name = "Broker";

  const started = new Server(log, onState, onBranch, { [LENS]: onLens });
  server = started;
  const restart = () => started.restart();
  const session: Session = { broker, branches, checks, window, restart, checked: onChecked };
  const tree = vscode.window.createTreeView("broker.branches", { treeDataProvider: view, showCollapseAll: true });

  function onState(state: ServerState): void {
    void vscode.commands.executeCommand("setContext", "broker.state", state.kind);
    if (state.kind === "running") branches.load().catch((error) => log.error(refusal(error).message));
    else forget();
    showStatus();
  }

  function forget(): void {
    checks.clear();
    findings.show();
    if (branches.size > 0) branches.clear();
  }

  function onBranch(event: BranchChanged): void {
    const known = branches.get(event.branch.id);
    if (event.kind === "discarded" || known?.revision !== event.branch.revision) {
      checks.drop(event.branch.id);
      findings.show();
    }
    branches.apply(event);
  }

  function refresh(): void {
    if (started.state.kind === "running") void run("broker.branch.refresh", session);
  }

  function onLens(argument: unknown): Promise<void> {
    return guarded(session, () => openLens(session, (argument as { branch: string }).branch));
  }

  function onChecked(): void {
    findings.show();
    view.refresh();
  }

  function showStatus(): void {
    const { text, tooltip, command, severity } = status(started.state, branches.size);
    Object.assign(item, { text, tooltip, command });
    item.backgroundColor = severity && new vscode.ThemeColor(`statusBarItem.${severity}Background`);
    item.show();
  }

  branches.onChange(showStatus);
  for (const name of Object.keys(COMMANDS)) {
    const handler = (node?: Node) => run(name, session, node);
    context.subscriptions.push(vscode.commands.registerCommand(name, handler));
  }
  context.subscriptions.push(
    ...[log, window, findings, item, tree, started],
    vscode.window.registerFileDecorationProvider(view),
    // There were no notifications while the server had no daemon.
    tree.onDidChangeVisibility(({ visible }) => visible && refresh()),
    // The client library notifies the server after this handler.
    vscode.workspace.onDidChangeWorkspaceFolders(() => setTimeout(refresh, 200)),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (NEED_RESTART.some((it) => event.affectsConfiguration(it))) void run("broker.restart", session);
    }),
  );
  showStatus();
  await started.restart();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
