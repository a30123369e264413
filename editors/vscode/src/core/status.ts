// The state of the server, as the status bar shows it.

export type ServerState =
  | { kind: "stopped" }
  | { kind: "starting" }
  | { kind: "running"; version?: string }
  | { kind: "failed"; reason: string };

export interface Status {
  text: string;
  tooltip: string;
  command: string;
  severity?: "warning" | "error";
}

export function status(state: ServerState, branches: number): Status {
  switch (state.kind) {
    case "starting":
      return { text: "$(loading~spin) Broker", tooltip: "Broker is starting", command: "broker.showLog" };
    case "running":
      return {
        text: branches === 0 ? "$(git-branch) Broker" : `$(git-branch) Broker ${branches}`,
        tooltip: `${["Broker", state.version].filter(Boolean).join(" ")} is running. ${counted(branches, "branch", "branches")}.`,
        command: "broker.showBranches",
      };
    case "stopped":
      return {
        text: "$(circle-slash) Broker",
        tooltip: "Broker is stopped",
        command: "broker.showLog",
        severity: "warning",
      };
    case "failed":
      return { text: "$(error) Broker", tooltip: state.reason, command: "broker.showLog", severity: "error" };
  }
}

/** `1 branch`, `2 branches`. The plural is optional if it only adds an `s`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
