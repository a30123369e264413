// The editor's user interface, as commands need it. Tests implement it with scripted answers.

import type { Range } from "./protocol.js";

/** The sides of a comparison. A missing side is shown empty. */
export interface Comparison {
  title: string;
  /** URI of the branch document, which names the comparison even if the file does not exist in the branch. */
  of: string;
  /** Its URI before it was renamed. */
  was?: string;
  left?: string;
  right?: string;
}

export interface Choice<T> {
  label: string;
  description?: string;
  value: T;
}

export interface Window {
  /** Asks in a dialog; `undefined` if it is dismissed. */
  confirm(message: string, detail: string, ...options: string[]): Promise<string | undefined>;
  info(message: string): void;
  /** Resolves with the button that was pressed, if one was. */
  warn(message: string, ...buttons: string[]): Promise<string | undefined>;
  pick<T>(placeholder: string, choices: Choice<T>[]): Promise<T | undefined>;
  input(prompt: string, value?: string): Promise<string | undefined>;
  /** Shows progress; the signal is aborted if the user cancels. */
  progress<T>(title: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Appends lines to the output of checks and runs, and shows it if asked. */
  output(text: string, options?: { show: boolean }): void;
  openDocument(uri: string, range?: Range): Promise<void>;
  compare(comparison: Comparison): Promise<void>;
  compareAll(title: string, comparisons: Comparison[]): Promise<void>;
  showProblems(): Promise<void>;
  showLog(): void;
  showBranches(): Promise<void>;
  openSettings(query: string): Promise<void>;
  /** URI of the active document. */
  activeDocument(): string | undefined;
  /** URIs of the workspace folders. */
  folders(): string[];
}
