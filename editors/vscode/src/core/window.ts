// What commands need of the editor. The tests have one that answers by script.

import type { Range } from "./protocol.js";

/** Two sides of a comparison. A side that is missing is shown empty. */
export interface Comparison {
  title: string;
  /** Document of the branch, whether it is there or not: its name is that of the comparison. */
  of: string;
  /** Its former name, where it was renamed. */
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
  /** URI of the document that the user looks at. */
  activeDocument(): string | undefined;
  /** URIs of the workspace folders. */
  folders(): string[];
}
