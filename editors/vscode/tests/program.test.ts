import assert from "node:assert/strict";
import { test } from "node:test";

import { type Found, findProgram, type Run, unfit } from "../src/core/program.js";

async function found(setting: string, programs: string[], path = "/usr/bin:.:/opt/bin", folder?: string): Promise<Found> {
  const isProgram = async (it: string) => programs.includes(it);
  return findProgram(setting, { path, home: "/home/me", folder, isProgram });
}

test("the first program in PATH is taken, and relative folders of it are not", async () => {
  assert.deepEqual(await found("", ["/opt/bin/broker", "broker"]), { program: "/opt/bin/broker" });
  assert.deepEqual(await found("", ["/usr/bin/broker", "/opt/bin/broker"]), { program: "/usr/bin/broker" });
  assert.deepEqual(await found("broker-2", ["/opt/bin/broker-2", "/opt/bin/broker"]), { program: "/opt/bin/broker-2" });
});

test("the setting goes before PATH", async () => {
  const programs = ["/usr/bin/broker", "/home/me/bin/broker", "/work/target/broker"];
  assert.deepEqual(await found(" /usr/bin/broker ", programs), { program: "/usr/bin/broker" });
  assert.deepEqual(await found("~/bin/broker", programs), { program: "/home/me/bin/broker" });
  assert.deepEqual(await found("target/broker", programs, "", "/work"), { program: "/work/target/broker" });
  const inFolder = "${workspaceFolder}/target/broker";
  assert.deepEqual(await found(inFolder, programs, "", "/work"), { program: "/work/target/broker" });
});

test("a program that is missing is reported with what to do", async () => {
  assert.deepEqual(await found("", []), {
    problem: 'There is no program `broker` in your PATH. Install Broker, or name it in the setting "broker.path".',
  });
  assert.deepEqual(await found("brokre", []), {
    problem: 'There is no program `brokre` in your PATH. Correct the setting "broker.path".',
  });
  assert.deepEqual(await found("target/broker", ["target/broker"]), {
    problem: 'The setting "broker.path" names `target/broker`, which is no program.',
  });
});

test("a program that cannot serve editors is named", async () => {
  const answers =
    (version: string | undefined, isServer: boolean): Run =>
    async (_, args) => {
      if (args[0] === "lsp" && isServer) return "";
      if (args[0] === "--version" && version !== undefined) return version;
      throw new Error("exit code 2");
    };
  assert.equal(await unfit("/bin/broker", answers("broker 0.2.0", true)), undefined);
  const old = await unfit("/bin/broker", answers("broker 0.0.9 (quick build)", false));
  assert.equal(old, "`/bin/broker` is broker 0.0.9, which has no `broker lsp`. Install a newer version.");
  const other = '`/bin/broker` is another program of the same name. Name Broker\'s in the setting "broker.path".';
  assert.equal(await unfit("/bin/broker", answers("message broker 7", false)), other);
  assert.equal(await unfit("/bin/broker", answers(undefined, false)), other);
});
