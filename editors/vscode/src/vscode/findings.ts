// Findings of checked branches in the Problems panel.

import * as vscode from "vscode";

import type { Checks } from "../core/checks.js";
import { BRANCH_SCHEME, type Diagnostic, uriKey } from "../core/protocol.js";

export class Findings implements vscode.Disposable {
  readonly #collection = vscode.languages.createDiagnosticCollection("broker-branches");
  readonly #subscription: vscode.Disposable;

  constructor(private readonly checks: Checks) {
    const show = (document: vscode.TextDocument) => {
      if (document.uri.scheme === BRANCH_SCHEME) this.show();
    };
    const opened = vscode.workspace.onDidOpenTextDocument(show);
    this.#subscription = vscode.Disposable.from(opened, vscode.workspace.onDidCloseTextDocument(show));
  }

  /** Shows the current findings, except those of open documents, which the server reports itself. */
  show(): void {
    const documents = vscode.workspace.textDocuments.filter((it) => it.uri.scheme === BRANCH_SCHEME && !it.isClosed);
    const open = new Set(documents.map((it) => uriKey(it.uri.toString())));
    this.#collection.clear();
    for (const [uri, diagnostics] of this.checks.diagnostics((it) => open.has(uriKey(it)))) {
      this.#collection.set(vscode.Uri.parse(uri), diagnostics.map(diagnostic));
    }
  }

  dispose(): void {
    this.#collection.dispose();
    this.#subscription.dispose();
  }
}

function diagnostic({ range: { start, end }, message, severity, code, source }: Diagnostic): vscode.Diagnostic {
  const range = new vscode.Range(start.line, start.character, end.line, end.character);
  const made = new vscode.Diagnostic(range, message, (severity ?? 1) - 1);
  made.code = code;
  made.source = source;
  return made;
}
