// The extension's settings, and what the server is told of them.

export interface Settings {
  path: string;
  servers: boolean;
  checkOnSave: boolean;
  codeLens: boolean;
  /** Which messages are logged. */
  trace: "off" | "messages" | "verbose";
}

/** Reads settings; `get` answers with `undefined` for what is not set. */
export function settings(get: (key: string) => unknown): Settings {
  const flag = (key: string, otherwise: boolean) => {
    const value = get(key);
    return typeof value === "boolean" ? value : otherwise;
  };
  const [path, trace] = [get("path"), get("trace.server")];
  return {
    path: typeof path === "string" ? path : "",
    servers: flag("servers", false),
    checkOnSave: flag("checkOnSave", true),
    codeLens: flag("codeLens", false),
    trace: trace === "messages" || trace === "verbose" ? trace : "off",
  };
}

/** `initializationOptions` of the server. */
export function initializationOptions({ servers, checkOnSave, codeLens }: Settings): object {
  return { servers, checkOnSave, codeLens };
}

/** Settings that only a new client or server takes up; the server is notified of the others. */
export const NEED_RESTART = ["broker.path", "broker.servers", "broker.trace.server"];
