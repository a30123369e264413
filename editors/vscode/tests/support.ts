// Data of the tests, and a window and a server that answer by script and keep a transcript.

import { Branches } from "../src/core/branches.js";
import { Checks } from "../src/core/checks.js";
import type { Session } from "../src/core/commands.js";
import { type Branch, Broker, type Change, type ChangeKind, type Finding } from "../src/core/protocol.js";
import type { Choice, Comparison, Window } from "../src/core/window.js";

export const FOLDER = "file:///work/shop";

export function branch(name: string, more: Partial<Branch> = {}): Branch {
  return { id: `id-${name}`, name, workspace: FOLDER, revision: 1, changedPaths: 1, createdMs: 0, ...more };
}

export function change(of: string, path: string, kind: ChangeKind = "modified", from: string | null = null): Change {
  return { path, kind, from, uri: `${FOLDER}/${path}`, branchUri: `broker-branch://id-${of}/${path}` };
}

export function finding(of: string, path: string, line: number, more: Partial<Finding> = {}): Finding {
  const range = { start: { line, character: 4 }, end: { line, character: 9 } };
  const diagnostic = { range, severity: 1 as const, source: "python", code: "F821", message: "Undefined name `price`" };
  return { uri: `broker-branch://id-${of}/${path}`, path, change: "new", diagnostic, ...more };
}

/** An error as the server sends it. */
export function refused(message: string, data: object): Error {
  return Object.assign(new Error(message), { code: -32803, data });
}

export type Script = Record<string, (argument: Record<string, unknown>) => unknown>;

export class ScriptedWindow implements Window {
  readonly transcript: string[] = [];
  /** What the user answers to each question, in order. */
  readonly answers: (string | undefined)[] = [];
  workspaceFolders = [FOLDER];
  active: string | undefined;

  async confirm(message: string, detail: string, ...options: string[]): Promise<string | undefined> {
    return this.#ask([message, ...detail.split("\n").filter(Boolean), `[${options.join("] [")}]`]);
  }

  info(message: string): void {
    this.transcript.push(message);
  }

  async warn(message: string, ...buttons: string[]): Promise<string | undefined> {
    if (buttons.length > 0) return this.#ask([`warning: ${message}`, `[${buttons.join("] [")}]`]);
    this.transcript.push(`warning: ${message}`);
    return undefined;
  }

  async pick<T>(placeholder: string, choices: Choice<T>[]): Promise<T | undefined> {
    const label = this.#ask([`${placeholder}: ${choices.map((it) => it.label).join(", ")}`]);
    return choices.find((it) => it.label === label)?.value;
  }

  async input(prompt: string, value?: string): Promise<string | undefined> {
    return this.#ask([value === undefined ? prompt : `${prompt} (${value})`]);
  }

  progress<T>(title: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.transcript.push(`… ${title}`);
    return work(new AbortController().signal);
  }

  output(text: string, options?: { show: boolean }): void {
    this.transcript.push(...text.split("\n").map((it) => `| ${it}`), ...(options?.show ? ["(output shown)"] : []));
  }

  async openDocument(uri: string): Promise<void> {
    this.transcript.push(`open ${uri}`);
  }

  async compare({ title, left, right }: Comparison): Promise<void> {
    this.transcript.push(title, `  ${left ?? "(empty)"}`, `  ${right ?? "(empty)"}`);
  }

  async compareAll(title: string, comparisons: Comparison[]): Promise<void> {
    this.transcript.push(title);
    for (const it of comparisons) await this.compare(it);
  }

  async showProblems(): Promise<void> {
    this.transcript.push("(problems shown)");
  }

  showLog(): void {
    this.transcript.push("(log shown)");
  }

  async showBranches(): Promise<void> {
    this.transcript.push("(branches shown)");
  }

  async openSettings(query: string): Promise<void> {
    this.transcript.push(`settings ${query}`);
  }

  activeDocument(): string | undefined {
    return this.active;
  }

  folders(): string[] {
    return this.workspaceFolders;
  }

  #ask(question: string[]): string | undefined {
    if (this.answers.length === 0) throw new Error(`no answer to ${question.join(" | ")}`);
    const answer = this.answers.shift();
    this.transcript.push(...question, `> ${answer ?? "(dismissed)"}`);
    return answer;
  }
}

/** A session whose server answers by script; each call is noted as its command and argument. */
export function session(script: Script): Session & { window: ScriptedWindow; calls: string[] } {
  const calls: string[] = [];
  const broker = new Broker(async (command, argument) => {
    calls.push(`${command} ${JSON.stringify(argument)}`);
    const answer = script[command.replace("broker.", "")];
    if (!answer) throw new Error(`no script for ${command}`);
    return answer(argument as Record<string, unknown>);
  });
  const window = new ScriptedWindow();
  const restart = async () => window.info("(restarted)");
  const checked = () => window.info("(findings shown)");
  return { broker, branches: new Branches(broker), checks: new Checks(), window, restart, checked, calls };
}

/** Lines as one text, for comparing. */
export function text(lines: string[]): string {
  return lines.join("\n");
}
