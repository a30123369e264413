// The manifest agrees with the code, and says of everything what it is.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { COMMANDS } from "../src/core/commands.js";
import { NEED_RESTART, settings } from "../src/core/settings.js";

interface Setting {
  type: string;
  default: unknown;
  markdownDescription?: string;
  enum?: string[];
  enumDescriptions?: string[];
}

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const { commands, configuration, menus, views, viewsWelcome, walkthroughs } = manifest.contributes;
const properties: Record<string, Setting> = configuration.properties;
const names: string[] = commands.map((it: { command: string }) => it.command);

test("every command is registered, and has a title", () => {
  assert.deepEqual([...names].sort(), Object.keys(COMMANDS).sort());
  for (const { command, title, category } of commands) {
    assert.match(title, /^[A-Z].*[\w…]$/, command);
    assert.equal(category, "Broker", command);
  }
});

test("no command has a name that the server takes", () => {
  const ofServer = /^broker\.(list|fork|diff|check|commit|discard|rebase|runIn)Branch(es)?$|^broker\.\w+Rule$/;
  assert.deepEqual(names.filter((it) => ofServer.test(it)), []);
});

test("menus, the welcome view and the walkthrough name commands that there are", () => {
  const inMenus = Object.values<{ command: string }[]>(menus).flatMap((items) => items.map((it) => it.command));
  const steps: { description: string }[] = walkthroughs.flatMap((it: { steps: object[] }) => it.steps);
  const texts: string[] = [...viewsWelcome.map((it: { contents: string }) => it.contents), ...steps.map((it) => it.description)];
  const linked = texts.flatMap((it) => [...it.matchAll(/\(command:([\w.]+)/g)].map((found) => found[1] ?? ""));
  const ours = [...inMenus, ...linked].filter((it) => it.startsWith("broker."));
  assert.deepEqual(ours.filter((it) => !names.includes(it)), []);
  assert.ok(linked.length > 4);
  // They are shown as they are.
  for (const it of texts) assert.doesNotMatch(it, /`/);
});

test("commands that need a node of the tree are not in the palette", () => {
  const hidden = menus.commandPalette.map((it: { command: string; when: string }) => [it.command, it.when]);
  const ofNodes = ["broker.branch.diffFile", "broker.branch.openFile", "broker.branch.openFinding"];
  assert.deepEqual(hidden, ofNodes.map((it) => [it, "false"]));
});

test("every setting has a description and the default that the code has", () => {
  const defaults: Record<string, unknown> = { ...settings(() => undefined) };
  for (const [name, setting] of Object.entries(properties)) {
    assert.match(setting.markdownDescription ?? "", /\.$/, name);
    assert.equal(setting.enum?.length, setting.enumDescriptions?.length, name);
    assert.equal(typeof setting.default, setting.type, name);
    assert.equal(setting.default, defaults[name.split(".")[1] ?? ""], name);
  }
  assert.equal(Object.keys(properties).length, Object.keys(defaults).length);
});

test("an untrusted workspace sets nothing that starts programs", () => {
  const { restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
  assert.deepEqual(restrictedConfigurations, ["broker.path", "broker.servers"]);
  for (const name of NEED_RESTART) assert.ok(name in properties, name);
});

test("files that the manifest names exist", () => {
  const media = walkthroughs.flatMap((it: { steps: { media: { markdown: string } }[] }) => it.steps.map((s) => s.media.markdown));
  for (const file of [manifest.icon, ...media]) assert.ok(existsSync(file), file);
  assert.equal(views.scm[0].id, "broker.branches");
});

test("versions are pinned, and those of VS Code fit together", () => {
  const pinned = Object.entries<string>({ ...manifest.dependencies, ...manifest.devDependencies });
  for (const [name, version] of pinned) assert.match(version, /^\d+\.\d+\.\d+$/, name);
  assert.equal(manifest.engines.vscode, `^${manifest.devDependencies["@types/vscode"]}`);
});

test("the version is that of the program", () => {
  const cargo = readFileSync("../../Cargo.toml", "utf8");
  assert.equal(/^version = "(.+)"$/m.exec(cargo)?.[1], manifest.version);
});
