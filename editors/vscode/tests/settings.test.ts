import assert from "node:assert/strict";
import { test } from "node:test";

import { refusal, uriKey } from "../src/core/protocol.js";
import { initializationOptions, settings } from "../src/core/settings.js";
import { status } from "../src/core/status.js";

test("what is not set, or set to nonsense, has its default", () => {
  const given: Record<string, unknown> = { servers: true, checkOnSave: "no", "trace.server": "all" };
  const read = settings((key) => given[key]);
  assert.deepEqual(read, { path: "", servers: true, checkOnSave: true, codeLens: false, trace: "off" });
  assert.deepEqual(initializationOptions(read), { servers: true, checkOnSave: true, codeLens: false });
});

test("the status says what the server does, and a click leads on", () => {
  const running = status({ kind: "running", version: "0.1.0" }, 2);
  assert.deepEqual(running, {
    text: "$(git-branch) Broker 2",
    tooltip: "Broker 0.1.0 is running. 2 branches.",
    command: "broker.showBranches",
  });
  assert.equal(status({ kind: "running" }, 0).text, "$(git-branch) Broker");
  assert.equal(status({ kind: "starting" }, 0).text, "$(loading~spin) Broker");
  assert.equal(status({ kind: "stopped" }, 0).severity, "warning");
  const failed = status({ kind: "failed", reason: "no program" }, 0);
  assert.deepEqual([failed.tooltip, failed.command, failed.severity], ["no program", "broker.showLog", "error"]);
});

test("an error is read, whatever it has", () => {
  const data = { reason: "CONFLICT", paths: ["a"], hint: "rebase" };
  assert.deepEqual(refusal(Object.assign(new Error("no"), { data })), { message: "no", ...data });
  assert.deepEqual(refusal("no"), { message: "no", reason: undefined, hint: undefined, paths: [] });
});

test("spellings of a URI are one", () => {
  assert.equal(uriKey("broker-branch://b/a%28b.py"), uriKey("broker-branch://b/a(b.py"));
  assert.equal(uriKey("broken%"), "broken%");
});
