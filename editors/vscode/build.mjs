// Bundles the extension into dist, with the licences of what is bundled; with --tests, the tests into out.

import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const common = { bundle: true, platform: "node", target: "node20", logLevel: "warning" };

if (process.argv.includes("--tests")) {
  await buildTests();
} else {
  await buildExtension();
}

async function buildExtension() {
  const { metafile } = await build({
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    format: "cjs",
    external: ["vscode"],
    minify: true,
    metafile: true,
  });
  const folders = Object.keys(metafile.inputs).map((it) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(it)?.[0]);
  const packages = [...new Set(folders)].filter((it) => it !== undefined).sort();
  writeFileSync("dist/THIRD-PARTY-LICENSES", packages.map(licence).join("\n"));
  for (const name of ["LICENSE-MIT", "LICENSE-APACHE"]) copyFileSync(join("../..", name), name);
}

/** Name, version and licence of the package in a folder. */
function licence(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((it) => /^licen[cs]e/i.test(it));
  if (!file) throw new Error(`${folder} has no licence file`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8")}\n`;
}

async function buildTests() {
  const tests = readdirSync("tests").filter((it) => it.endsWith(".test.ts"));
  await build({
    ...common,
    entryPoints: tests.map((it) => join("tests", it)),
    outdir: "out",
    outExtension: { ".js": ".mjs" },
    format: "esm",
    packages: "external",
    sourcemap: "inline",
  });
}
