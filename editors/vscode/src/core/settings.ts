// The extension's settings, and those that are sent to the server.

export interface Settings {
  path: string;
  servers: boolean;
  checkOnSave: boolean;
  codeLens: boolean;
  /** Which messages of the protocol are logged. */
  trace: "off" | "messages" | "verbose";
}

/** Reads settings. `get` returns `undefined` for a setting without a value. */
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

/** Settings that take effect when the server is restarted. The server is notified of changes of the others. */
export const NEED_RESTART = ["broker.path", "broker.servers", "broker.trace.server"];
