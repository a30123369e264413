// `Window` by VS Code's API.

import * as vscode from "vscode";

import type { Choice, Comparison, Window } from "../core/window.js";

/** Scheme of documents that are one side of a comparison: empty, or a copy of the document whose URI is the query. */
const SIDE = "broker-side";

export class EditorWindow implements Window, vscode.Disposable {
  readonly #output = vscode.window.createOutputChannel("Broker Branches");
  readonly #copied = new vscode.EventEmitter<vscode.Uri>();
  readonly #sides = vscode.workspace.registerTextDocumentContentProvider(SIDE, {
    onDidChange: this.#copied.event,
    provideTextDocumentContent: async ({ query }) => {
      return query ? (await vscode.workspace.openTextDocument(vscode.Uri.parse(query))).getText() : "";
    },
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

  async compare({ title, of, left, right }: Comparison): Promise<void> {
    const [before, after] = [left, right].map((it) => (it === undefined ? side(of) : vscode.Uri.parse(it)));
    await vscode.commands.executeCommand("vscode.diff", before, after, title);
  }

  async compareAll(title: string, comparisons: Comparison[]): Promise<void> {
    const resources = comparisons.map(({ of, was, left, right }) => {
      // VS Code shows a document of another path as renamed: use a copy under the same path.
      const before = left === undefined ? undefined : side(was ?? of, left);
      if (before) this.#copied.fire(before);
      return [vscode.Uri.parse(of), before, right === undefined ? undefined : vscode.Uri.parse(right)];
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

  activeDocument(): string | undefined {
    return vscode.window.activeTextEditor?.document.uri.toString();
  }

  folders(): string[] {
    return (vscode.workspace.workspaceFolders ?? []).map((it) => it.uri.toString());
  }

  dispose(): void {
    this.#output.dispose();
    this.#sides.dispose();
    this.#copied.dispose();
  }
}

interface Point {
  line: number;
  character: number;
}

function point({ line, character }: Point): vscode.Position {
  return new vscode.Position(line, character);
}

/** A document with the path of `of`, so that its language is the same: a copy of `copied`, or empty. */
function side(of: string, copied?: string): vscode.Uri {
  return vscode.Uri.from({ scheme: SIDE, path: vscode.Uri.parse(of).path, query: copied });
}
