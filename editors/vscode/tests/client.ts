// A client of `broker lsp` without an editor, by the same libraries as the extension's. It has the parts of the extension that
// know no VS Code.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import {
  DidOpenTextDocumentNotification,
  DocumentDiagnosticRequest,
  ExecuteCommandRequest,
  type FullDocumentDiagnosticReport,
  type InitializeParams,
  InitializeRequest,
  type InitializeResult,
} from "vscode-languageserver-protocol";

import { Branches } from "../src/core/branches.js";
import { Checks } from "../src/core/checks.js";
import { BRANCH_CHANGED, type BranchChanged, Broker, EXPERIMENTAL } from "../src/core/protocol.js";
import { initializationOptions, settings } from "../src/core/settings.js";
import { BranchTree } from "../src/core/tree.js";

export const BROKER = process.env.BROKER;

const WAIT_MS = 60_000;

/** A folder with files, which is a workspace whatever lies above it. */
export async function workspace(files: Record<string, string>): Promise<string> {
  const folder = await realpath(await mkdtemp(join(process.env.BROKER_TEST_WORK ?? tmpdir(), "vscode-")));
  const all = Object.entries({ "broker.toml": "", ...files });
  for (const [name, text] of all) await writeFile(join(folder, name), text);
  return folder;
}

export class Client {
  readonly broker: Broker;
  readonly branches: Branches;
  readonly checks = new Checks();
  readonly tree: BranchTree;
  readonly events: BranchChanged[] = [];
  readonly #connection;
  readonly #process;
  readonly #waiting = new Set<() => void>();
  result!: InitializeResult;

  constructor(readonly folders: string[]) {
    this.#process = spawn(BROKER ?? "", ["lsp"], { cwd: folders[0], stdio: ["pipe", "pipe", "inherit"] });
    const { stdout, stdin } = this.#process;
    this.#connection = createMessageConnection(new StreamMessageReader(stdout), new StreamMessageWriter(stdin));
    this.broker = new Broker((command, argument) => {
      return this.#connection.sendRequest(ExecuteCommandRequest.type, { command, arguments: [argument] });
    });
    this.branches = new Branches(this.broker);
    this.tree = new BranchTree(this.branches, this.checks);
    this.#connection.onNotification(BRANCH_CHANGED, (event: BranchChanged) => {
      this.events.push(event);
      this.branches.apply(event);
      this.#wake();
    });
    // Registrations and refreshes.
    this.#connection.onRequest(() => null);
    this.#connection.listen();
  }

  static async start(folders: string[]): Promise<Client> {
    const client = new Client(folders);
    client.result = await client.#connection.sendRequest(InitializeRequest.type, client.#parameters());
    await client.#connection.sendNotification("initialized", {});
    await client.branches.load();
    return client;
  }

  uri(path: string, folder = this.folders[0] ?? ""): string {
    return pathToFileURL(join(folder, path)).href;
  }

  request<T>(method: string, parameters: object): Promise<T> {
    return this.#connection.sendRequest(method, parameters);
  }

  answer(method: string, handle: (parameters: { uri?: string }) => void): void {
    this.#connection.onRequest(method, (parameters) => {
      handle(parameters);
      this.#wake();
      return null;
    });
  }

  async open(uri: string, text: string, languageId = "python"): Promise<void> {
    const textDocument = { uri, languageId, version: 1, text };
    await this.#connection.sendNotification(DidOpenTextDocumentNotification.type, { textDocument });
  }

  async diagnostics(uri: string): Promise<FullDocumentDiagnosticReport["items"]> {
    const report = await this.#connection.sendRequest(DocumentDiagnosticRequest.type, { textDocument: { uri } });
    return (report as FullDocumentDiagnosticReport).items;
  }

  /** Edits a branch from outside of the editor, as an agent does. */
  async edit(branch: string, path: string, text: string): Promise<void> {
    const file = join(await workspace({ text }), "text");
    await promisify(execFile)(BROKER ?? "", ["branch", "write", branch, path, file], { cwd: this.folders[0] });
  }

  read(path: string): Promise<string> {
    return readFile(join(this.folders[0] ?? "", path), "utf8");
  }

  write(path: string, text: string): Promise<void> {
    return writeFile(join(this.folders[0] ?? "", path), text);
  }

  /** Resolves once messages from the server made it true. */
  async until(what: string, isSo: () => boolean): Promise<void> {
    const late = AbortSignal.timeout(WAIT_MS);
    while (!isSo()) {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.add(resolve);
        late.addEventListener("abort", () => reject(new Error(`there was no ${what}`)));
      });
    }
  }

  /** The exit code, after an orderly end. */
  async stop(): Promise<number | null> {
    const ended = once(this.#process, "exit");
    await this.#connection.sendRequest("shutdown");
    await this.#connection.sendNotification("exit");
    const [code] = await ended;
    this.#connection.dispose();
    return code;
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  #parameters(): InitializeParams {
    const workspaceFolders = this.folders.map((it) => ({ uri: pathToFileURL(it).href, name: it }));
    return {
      processId: process.pid,
      clientInfo: { name: "tests of the extension" },
      rootUri: workspaceFolders[0]?.uri ?? null,
      workspaceFolders,
      capabilities: {
        workspace: {
          executeCommand: {},
          workspaceFolders: true,
          textDocumentContent: { dynamicRegistration: true },
          workspaceEdit: { documentChanges: true },
          applyEdit: true,
        },
        textDocument: { diagnostic: {}, codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: [] } } } },
        experimental: EXPERIMENTAL,
      },
      initializationOptions: initializationOptions(settings(() => undefined)),
    };
  }
}
