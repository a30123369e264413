// The language client: how the server is started, and how its commands are called.

import * as vscode from "vscode";
import {
  type ClientCapabilities,
  ExecuteCommandRequest,
  type FeatureState,
  LanguageClient,
  type LanguageClientOptions,
  type StaticFeature,
} from "vscode-languageclient/node";

import { BRANCH_SCHEME, type Execute, EXPERIMENTAL } from "../core/protocol.js";
import { initializationOptions, type Settings } from "../core/settings.js";

/** Commands of the server that the extension executes itself. */
export type Intercepted = Record<string, (argument: unknown) => Promise<void>>;

export function languageClient(
  program: string,
  settings: Settings,
  log: vscode.LogOutputChannel,
  intercepted: Intercepted,
): LanguageClient {
  const server = { command: program, args: ["lsp"] };
  const options: LanguageClientOptions = {
    // Every file: the linters `text` and `pattern` check all text files, and Broker decides which others apply.
    documentSelector: [{ scheme: "file" }, { scheme: BRANCH_SCHEME }],
    initializationOptions: initializationOptions(settings),
    middleware: {
      executeCommand: (command, args, next) => intercepted[command]?.(args[0]) ?? next(command, args),
    },
    outputChannel: log,
    traceOutputChannel: settings.trace === "off" ? undefined : traceChannel(log),
  };
  const client = new LanguageClient("broker", "Broker", server, options);
  client.registerFeature(new BranchNotifications());
  return client;
}

/** The log for traced messages. The library logs them at level `Trace` only, so that they would not be shown at other levels. */
function traceChannel(log: vscode.LogOutputChannel): vscode.LogOutputChannel {
  return new Proxy(log, {
    get(target, key) {
      if (key === "logLevel") return vscode.LogLevel.Trace;
      return key === "trace" ? target.info.bind(target) : Reflect.get(target, key);
    },
  });
}

/** Announces support of `broker/branchChanged`. */
class BranchNotifications implements StaticFeature {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    capabilities.experimental = { ...capabilities.experimental, ...EXPERIMENTAL };
  }

  getState(): FeatureState {
    return { kind: "static" };
  }

  initialize(): void {}

  clear(): void {}
}

/** Sends commands to the current client. */
export function executor(current: () => LanguageClient | undefined): Execute {
  return async (command, argument, signal) => {
    const client = current();
    if (!client?.isRunning()) throw new Error("Broker is not running.");
    const source = new vscode.CancellationTokenSource();
    const cancel = () => source.cancel();
    signal?.addEventListener("abort", cancel);
    try {
      return await client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [argument] }, source.token);
    } finally {
      signal?.removeEventListener("abort", cancel);
      source.dispose();
    }
  };
}
