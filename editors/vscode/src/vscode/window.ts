// The editor, for commands that know no VS Code.

import * as vscode from "vscode";

import type { Choice, Comparison, Window } from "../core/window.js";

/** Scheme of the empty document that stands for a missing side of a comparison. */
const EMPTY = "broker-empty";

export class EditorWindow implements Window, vscode.Disposable {
  readonly #output = vscode.window.createOutputChannel("Broker Branches");
  readonly #empty = vscode.workspace.registerTextDocumentContentProvider(EMPTY, {
    provideTextDocumentContent: () => "",
  });

  constructor(readonly log: vscode.OutputChannel) {}

  async confirm(message: string, detail: string, ...options: string[]): Promise<string | undefined> {
    return vscode.window.showWarningMessage(message, { modal: true, detail }, ...options);
  }

  info(message: string): void {
    void vscode.window.showInformationMessage(message);
  }

  async warn(message: string, ...buttons: string[]): Promise<string | undefined> {
    return vscode.window.showWarningMessage(message, ...buttons);
  }

  async pick<T>(placeHolder: string, choices: Choice<T>[]): Promise<T | undefined> {
    const picked = await vscode.window.showQuickPick(choices, { placeHolder, matchOnDescription: true });
    return picked?.value;
  }

  async input(prompt: string, value?: string): Promise<string | undefined> {
    return vscode.window.showInputBox({ prompt, value });
  }

  async progress<T>(title: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    return vscode.window.withProgress(options, (_, token) => {
      const controller = new AbortController();
      token.onCancellationRequested(() => controller.abort());
      return work(controller.signal);
    });
  }

  output(text: string, options?: { show: boolean }): void {
    if (text) this.#output.appendLine(text);
    if (options?.show) this.#output.show(true);
  }

  async openDocument(uri: string, range?: { start: Point; end: Point }): Promise<void> {
    const selection = range && new vscode.Range(point(range.start), point(range.end));
    await vscode.commands.executeCommand("vscode.open", vscode.Uri.parse(uri), { selection, preview: true });
  }

  async compare({ title, label, left, right }: Comparison): Promise<void> {
    await vscode.commands.executeCommand("vscode.diff", side(left, label), side(right, label), title);
  }

  async compareAll(title: string, comparisons: Comparison[]): Promise<void> {
    const resources = comparisons.map(({ label, left, right }) => {
      return [vscode.Uri.parse(label), left && vscode.Uri.parse(left), right && vscode.Uri.parse(right)];
    });
    await vscode.commands.executeCommand("vscode.changes", title, resources);
  }

  async showProblems(): Promise<void> {
    await vscode.commands.executeCommand("workbench.actions.view.problems");
  }

  showLog(): void {
    this.log.show(true);
  }

  async showBranches(): Promise<void> {
    await vscode.commands.executeCommand("broker.branches.focus");
  }

  async openSettings(query: string): Promise<void> {
    await vscode.commands.executeCommand("workbench.action.openSettings", query);
  }

  folders(): string[] {
    return (vscode.workspace.workspaceFolders ?? []).map((it) => it.uri.toString());
  }

  dispose(): void {
    this.#output.dispose();
    this.#empty.dispose();
  }
}

interface Point {
  line: number;
  character: number;
}

function point({ line, character }: Point): vscode.Position {
  return new vscode.Position(line, character);
}

/** The empty document keeps the file's name, so that it is highlighted alike. */
function side(uri: string | undefined, label: string): vscode.Uri {
  if (uri !== undefined) return vscode.Uri.parse(uri);
  return vscode.Uri.from({ scheme: EMPTY, path: vscode.Uri.parse(label).path });
}
