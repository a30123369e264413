// Finds, starts, restarts and stops the server.

import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { promisify } from "node:util";

import * as vscode from "vscode";
import { type LanguageClient, State } from "vscode-languageclient/node";

import { findProgram, isProgram, unfit } from "../core/program.js";
import { BRANCH_CHANGED, type BranchChanged } from "../core/protocol.js";
import { settings } from "../core/settings.js";
import type { ServerState } from "../core/status.js";
import { type Intercepted, languageClient } from "./client.js";

export class Server implements vscode.Disposable {
  client: LanguageClient | undefined;
  #state: ServerState = { kind: "stopped" };
  /** The last start or stop, which the next one waits for. */
  #turn: Promise<void> = Promise.resolve();

  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly onState: (state: ServerState) => void,
    private readonly onBranch: (event: BranchChanged) => void,
    private readonly intercepted: Intercepted,
  ) {}

  get state(): ServerState {
    return this.#state;
  }

  restart(): Promise<void> {
    const turn = this.#turn.then(async () => {
      await this.#stop();
      await this.#start();
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async stop(): Promise<void> {
    await this.#turn;
    await this.#stop();
  }

  dispose(): void {
    void this.stop();
  }

  async #start(): Promise<void> {
    this.#become({ kind: "starting" });
    const configuration = vscode.workspace.getConfiguration("broker");
    const wanted = settings((key) => configuration.get(key));
    const program = await this.#find(wanted.path);
    if (!program) return;
    this.log.info(`starting ${program} lsp`);
    const client = languageClient(program, wanted, this.log, this.intercepted);
    this.client = client;
    client.onDidChangeState(({ newState }) => this.#follow(client, newState));
    client.onNotification(BRANCH_CHANGED, this.onBranch);
    try {
      await client.start();
    } catch (error) {
      this.#become({ kind: "failed", reason: `Broker could not be started: ${(error as Error).message}` });
    }
  }

  async #find(setting: string): Promise<string | undefined> {
    const folder = vscode.workspace.workspaceFolders?.find((it) => it.uri.scheme === "file")?.uri.fsPath;
    const around = { path: process.env.PATH ?? "", home: homedir(), folder, isProgram };
    const found = await findProgram(setting, around);
    const problem = "problem" in found ? found.problem : await unfit(found.program, run);
    if (problem === undefined && "program" in found) return found.program;
    this.#become({ kind: "failed", reason: problem ?? "" });
    this.log.error(problem ?? "");
    void offerHelp(problem ?? "");
    return undefined;
  }

  async #stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    // A client that failed to start cannot be stopped.
    await client?.dispose().catch((error: Error) => this.log.warn(error.message));
    this.#become({ kind: "stopped" });
  }

  #follow(client: LanguageClient, state: State): void {
    // A failed start is followed by the state `Stopped`, which must not hide the reason of the failure.
    if (client !== this.client || (state === State.Stopped && this.#state.kind === "failed")) return;
    if (state === State.Running) {
      this.#become({ kind: "running", version: client.initializeResult?.serverInfo?.version });
    } else {
      this.#become({ kind: state === State.Starting ? "starting" : "stopped" });
    }
  }

  #become(state: ServerState): void {
    this.#state = state;
    this.onState(state);
  }
}

const run = async (program: string, args: string[]): Promise<string> => {
  return (await promisify(execFile)(program, args, { timeout: 20_000 })).stdout;
};

const INSTALL = "How to Install";
const SETTINGS = "Open Settings";

async function offerHelp(problem: string): Promise<void> {
  const pressed = await vscode.window.showErrorMessage(problem, INSTALL, SETTINGS);
  if (pressed === INSTALL) {
    await vscode.commands.executeCommand("workbench.action.openWalkthrough", "broker.broker-check#broker.start");
  }
  if (pressed === SETTINGS) await vscode.commands.executeCommand("workbench.action.openSettings", "broker.path");
}
